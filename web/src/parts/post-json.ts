/** Where a token is kept until the tab is closed. */
const TOKEN = 'fullmatch-token';

/** Holds it where a browser keeps nothing. */
let typed = '';

/** The token that was typed in this tab; empty where none was. */
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
    // It is only not there on the next page.
  }
}

/** Sends JSON to the API of this service, with the token where there is one. */
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
