// Requests to our own server: the CSRF token goes along, and a stale one is renewed without touching the form.

class Refused extends Error {
  constructor(status, answer) {
    super(answer.error ?? "The server could not take this.");
    this.status = status;
    this.code = answer.code ?? "error";
    this.missing = answer.missing ?? [];
    this.answer = answer;
  }
}

export class Offline extends Error {}

const token = () => document.body.dataset.csrf;

async function renewToken() {
  const answer = await attempt("/csrf.json", { headers: { accept: "application/json" } });
  document.body.dataset.csrf = answer.csrf;
  for (const field of document.querySelectorAll("input[name=csrf_token]")) field.value = answer.csrf;
}

async function attempt(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Offline("No connection to the server.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

export async function post(path, body, { keepalive = false } = {}) {
  const json = !(body instanceof FormData);
  const request = () => attempt(path, {
    method: "POST",
    keepalive,
    headers: {
      accept: "application/json",
      "x-csrf-token": token(),
      "content-type": json ? "application/json" : "application/x-www-form-urlencoded",
    },
    body: json ? JSON.stringify(body) : new URLSearchParams(body),
  });
  try {
    return await request();
  } catch (error) {
    if (error.code !== "csrf") throw error;
    await renewToken();
    return request();
  }
}

export const get = (path) => attempt(path, { headers: { accept: "application/json" } });
