// The ring all-reduce, as chunks that go round: N - 1 hops in which sums grow (reduce-scatter), N - 1 in which they are
// handed on (all-gather). The time of a transfer is the model's; that its hops last equally long is a way to draw it.

import { duration } from "./dom.js";

const MOST_DRAWN = 64;
const TURN_SECONDS = 3;

export class Ring {
  constructor(canvas) {
    this.canvas = canvas;
  }

  resize() {
    const side = Math.min(320, this.canvas.parentElement.clientWidth || 0);
    if (!side) return;
    const scale = devicePixelRatio || 1;
    this.side = side;
    this.canvas.width = this.canvas.height = Math.round(side * scale);
    this.canvas.style.width = this.canvas.style.height = `${side}px`;
    this.canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(this.canvas);
    this.color = (name) => style.getPropertyValue(name).trim();
  }

  // Draws the transfer under the play head, and says in words what is drawn. While the film runs (`film`: its moment in
  // milliseconds and how many seconds of the step pass in one), a transfer that would be over at once has a turn of its own.
  frame(step, at, film = null) {
    if (!this.side) return "";
    const { collectives: found, ranks_total: total } = step;
    const drawn = total > MOST_DRAWN ? 16 : total;
    const some = total > drawn ? `${drawn} of ${total.toLocaleString()} ranks drawn. ` : "";
    if (!found?.count) return this.#still(drawn, 0, "One rank alone has nobody to tell.");
    const started = found.buckets.findLast((bucket) => at >= bucket.start_seconds);
    if (!started) return this.#still(drawn, 0, `${some}Nothing is ready to be sent yet.`);
    if (found.mode === "beside") {
      const done = at >= started.end_seconds;
      return this.#still(drawn, done ? 2 * (drawn - 1) : 0, some + (done ? "Every layer is gathered and scattered." : `${found.count} gathers and scatters of layers run beside forward and backward; which one when, the model does not know.`));
    }
    const [bucket, progress] = this.#turn(step, started, at, film);
    const hops = Math.min(1, progress) * 2 * (drawn - 1);
    this.#draw(drawn, hops, progress < 1);
    const name = bucket.count > 1 ? `Buckets ${bucket.first + 1} to ${bucket.first + bucket.count}` : `Bucket ${bucket.first + 1}`;
    const took = `${some}${name} of ${found.count}, ${duration(bucket.end_seconds - bucket.start_seconds)}`;
    if (progress >= 1) return `${took}: done, every rank holds every sum.`;
    const hop = Math.min(2 * (drawn - 1) - 1, Math.floor(hops));
    return `${took}: ${hop < drawn - 1 ? `reduce-scatter, hop ${hop + 1}` : `all-gather, hop ${hop - drawn + 2}`} of ${drawn - 1}.`;
  }

  #turn(step, started, at, film) {
    const own = (bucket) => (at - bucket.start_seconds) / (bucket.end_seconds - bucket.start_seconds);
    if (!film || (started.end_seconds - started.start_seconds) / film.pace > TURN_SECONDS) {
      this.slow = null;
      return [started, own(started)];
    }
    if (this.slow?.step !== step || film.moment - this.slow.since > 1000 * TURN_SECONDS * 1.15) this.slow = { step, bucket: started, since: film.moment };
    return [this.slow.bucket, (film.moment - this.slow.since) / 1000 / TURN_SECONDS];
  }

  #still(drawn, hops, says) {
    this.#draw(drawn, hops, false);
    return says;
  }

  #draw(count, hops, moving) {
    const pen = this.canvas.getContext("2d");
    const middle = this.side / 2, radius = middle - (count > 16 ? 22 : 34), size = count > 32 ? 4 : count > 16 ? 6 : count > 8 ? 11 : 15;
    pen.clearRect(0, 0, this.side, this.side);
    pen.strokeStyle = this.color("--edge");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(middle, middle, radius, 0, 2 * Math.PI);
    pen.stroke();
    const place = (rank) => {
      const angle = (2 * Math.PI * rank) / count - Math.PI / 2;
      return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
    };
    const whole = Math.floor(hops + 1e-9), part = hops - whole;
    for (let rank = 0; rank < count; rank++) this.#node(pen, place(rank), size, count, rank, whole);
    if (moving) for (let rank = 0; rank < count; rank++) this.#chunk(pen, place(rank + part), size, count, rank, whole);
    pen.fillStyle = this.color("--text");
    pen.font = "600 14px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.fillText(whole < count - 1 ? "reduce-scatter" : "all-gather", middle, middle - 4);
    pen.fillStyle = this.color("--soft");
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(`${Math.min(whole, 2 * (count - 1))} of ${2 * (count - 1)} hops`, middle, middle + 14);
  }

  // How much of each chunk's sum a rank holds after so many hops: a pie of `count` slices, each filled from the middle.
  #node(pen, [x, y], size, count, rank, hops) {
    pen.fillStyle = this.color("--panel");
    pen.strokeStyle = this.color("--soft");
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
    pen.fillStyle = this.color("--p-collective");
    const slices = count > 16 ? 1 : count;
    for (let slice = 0; slice < slices; slice++) {
      const share = slices === 1 ? Array.from({ length: count }, (_, chunk) => held(rank, chunk, hops, count)).reduce((a, b) => a + b) / count : held(rank, slice, hops, count);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.arc(x, y, (size - 1) * Math.sqrt(share), (2 * Math.PI * slice) / slices - Math.PI / 2, (2 * Math.PI * (slice + 1)) / slices - Math.PI / 2);
      pen.fill();
    }
    if (count > 16) return;
    pen.fillStyle = this.color("--text");
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    const out = (size + 11) / Math.hypot(x - this.side / 2, y - this.side / 2);
    pen.fillText(String(rank), x + (x - this.side / 2) * out, y + (y - this.side / 2) * out + 4);
  }

  // Sums on their way are squares, finished ones are discs.
  #chunk(pen, [x, y], size, count, rank, hops) {
    const gathering = hops >= count - 1;
    const side = Math.max(4, size * 0.7);
    pen.fillStyle = gathering ? this.color("--util") : this.color("--mfu");
    pen.beginPath();
    if (gathering) pen.arc(x, y, side / 2 + 1, 0, 2 * Math.PI);
    else pen.rect(x - side / 2, y - side / 2, side, side);
    pen.fill();
    if (size < 11) return;
    pen.fillStyle = this.color("--panel");
    pen.font = "700 9px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.fillText(String((((rank - hops) % count) + count) % count), x, y + 3);
  }
}

// Share of chunk `chunk`'s sum that `rank` holds after `hops` hops of a ring of `count`. In hop h of the reduce-scatter
// rank r sends chunk r - h to the next; in the all-gather it sends chunk r + 1 - h, which is finished.
export function held(rank, chunk, hops, count) {
  const reduce = Math.min(hops, count - 1), gather = Math.max(0, hops - (count - 1));
  const after = (((rank - chunk) % count) + count) % count;
  if (after === count - 1 && reduce === count - 1) return 1;
  if (gather > 0 && (after + 1) % count <= gather && reduce === count - 1) return 1;
  return after <= reduce ? (after + 1) / count : 1 / count;
}
