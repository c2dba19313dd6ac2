/** Storage key of the token, which is kept until the tab is closed. */
const TOKEN = 'fullmatch-token';

/** Fallback if the browser's storage is disabled. */
let typed = '';

/** The token entered in this tab; empty if there is none. */
export function readToken(): string {
  try {
    return sessionStorage.getItem(TOKEN) ?? typed;
  } catch {
    return typed;
  }
}

/** Keeps a token until the tab is closed. */
export function keepToken(token: string): void {
  typed = token;
  try {
    sessionStorage.setItem(TOKEN, token);
  } catch {
    // The token then has to be entered again on the next page.
  }
}

/** Posts JSON to the API of this service, with the token if there is one. */
export function postJson(url: string, body: object): Promise<Response> {
  const token = readToken();
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
}
