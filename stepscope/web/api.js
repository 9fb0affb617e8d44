// The lab's API, with a deadline on every call and errors that say what to do.

const TOKEN = "stepscope-token";

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
};

export class Refused extends Error {
  constructor(status, detail, answer) {
    super(detail);
    this.status = status;
    this.answer = answer;
  }
}

// The page sets this: it asks whoever sits there, and says whether there is a token to try again with.
export const ask = { token: async () => false };

// While an exam runs, what tells of the truth is not even asked for without the token: the lab would refuse it each second.
// Whether one runs, the state says; until it has come, such questions wait for it.
let told;
const known = new Promise((resolve) => (told = resolve));
export const exam = { hides: false, tell: (hides) => { exam.hides = hides; told(); } };
const TRUTH = /^\/v1\/(faults|events|diagnosis|remedies|playbacks)/;

export async function call(method, path, body, { signal, seconds = 4, again = true, bearer } = {}) {
  const key = bearer ?? token.get();
  if (method === "GET" && !key && TRUTH.test(path)) {
    await known;
    if (exam.hides) throw new Refused(401, "An exam is running: this is shown once it is revealed.");
  }
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  const limit = AbortSignal.timeout(1000 * seconds);
  const response = await fetch(path, {
    method, headers, cache: "no-store", signal: signal ? AbortSignal.any([signal, limit]) : limit,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (response.ok) return answer;
  const asks = again && bearer === undefined && (method !== "GET" || path.endsWith("/answer"));
  if (response.status === 401 && asks && (await ask.token(answer?.detail ?? ""))) return call(method, path, body, { signal, seconds, again: false });
  throw new Refused(response.status, said(answer) || `${response.status} ${response.statusText}`, answer);
}

function said(answer) {
  const errors = (answer?.errors ?? []).map((error) => `${error.pointer}: ${error.detail}`).filter((line) => !answer.detail?.includes(line));
  return [answer?.detail, ...errors.slice(0, 3)].filter(Boolean).join(" · ");
}

export const why = (error) => (error instanceof Refused ? error.message : "The lab does not answer.");

export function curl(method, path, body) {
  const words = ["curl", "-sS", "-X", method, `${location.origin}${path}`];
  if (body !== undefined) words.push("-H", "'Content-Type: application/json'", "-d", `'${JSON.stringify(body)}'`);
  return words.join(" ");
}
