// The lab's API, with a deadline on every call and errors that say what to do.

const TOKEN = "stepscope-token";

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
};

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export async function call(method, path, body) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  const response = await fetch(path, {
    method, headers, cache: "no-store", signal: AbortSignal.timeout(4000),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (!response.ok) throw new Refused(response.status, answer?.detail ?? `${response.status} ${response.statusText}`);
  return answer;
}

export function curl(method, path, body) {
  const words = ["curl", "-sS", "-X", method, `${location.origin}${path}`];
  if (body !== undefined) words.push("-H", "'Content-Type: application/json'", "-d", `'${JSON.stringify(body)}'`);
  return words.join(" ");
}
