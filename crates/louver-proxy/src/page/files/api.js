// What the proxy is asked.

export class Refused extends Error {}

async function got(path, signal) {
  const answer = await fetch(`api/${path}`, { signal, headers: { accept: "application/json" } });
  if (answer.status === 401) throw new Refused("The token is not known any more: open the address that louver proxy prints.");
  if (answer.status === 404) throw new Refused("There is no such conversation, or it is somebody else's.");
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(body.error ?? `The proxy answered ${answer.status}.`);
  return { body, next: answer.headers.get("x-louver-next") };
}

const query = (pairs) => {
  const wanted = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return wanted.length ? `?${new URLSearchParams(wanted)}` : "";
};
const part = encodeURIComponent;

export const about = async (signal) => (await got("about", signal)).body;

export async function conversations(order, after, rows, signal) {
  const { body, next } = await got(`conversations${query({ order, after, rows })}`, signal);
  return { rows: body, next };
}

export const conversation = async (id, after, rows, signal) =>
  (await got(`conversations/${part(id)}${query({ after, rows })}`, signal)).body;

export const cuts = async (id, after, signal) =>
  (await got(`conversations/${part(id)}/cuts${query({ after })}`, signal)).body;

export const cut = async (id, sequence, { after, rows, each } = {}, signal) =>
  (await got(`conversations/${part(id)}/cuts/${part(sequence)}${query({ after, rows, each })}`, signal)).body;

export const message = async (id, index, chain, offset, signal) =>
  (await got(`conversations/${part(id)}/messages/${part(index)}${query({ chain, offset })}`, signal)).body;

export const search = async (q, conversation, signal) => (await got(`search${query({ q, conversation })}`, signal)).body;

export const money = async (days, signal) => (await got(`money${query({ days })}`, signal)).body;

/**
 * Listens to what happens. Browsers come back by themselves and say what they heard last; where that is forgotten, or the
 * proxy was started anew, `reset` says that everything has to be asked for again.
 */
export function listen({ request, reset, state }) {
  let source;
  let pause = 2_000;
  const open = () => {
    source = new EventSource("api/events");
    source.addEventListener("ready", () => { pause = 2_000; state("live"); });
    source.addEventListener("reset", () => { state("live"); reset(); });
    source.addEventListener("request", (event) => request(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      state("away");
      // A browser gives up where it was answered with an error; the page does not.
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(() => { open(); reset(); }, pause);
        pause = Math.min(pause * 2, 60_000);
      }
    });
  };
  open();
  // A browser has six connections for all tabs of a host: whoever is not looked at gives its own back.
  addEventListener("pagehide", () => source.close());
  addEventListener("visibilitychange", () => {
    source.close();
    if (document.hidden) return;
    open();
    reset();
  });
}
