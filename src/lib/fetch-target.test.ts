import { describe, expect, test } from 'vitest';
import {
  assertPublicTarget,
  followRedirect,
  type Hop,
  isRedirect,
  parseTarget,
} from './fetch-target.ts';

function hop(url: string, rest: Partial<Hop> = {}): Hop {
  return {
    url: new URL(url),
    method: 'GET',
    headers: {
      'user-agent': 'test',
      accept: 'text/html',
      authorization: 'Basic c2VjcmV0',
      'x-api-key': 'k',
    },
    ...rest,
  };
}

function codeOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'nothing thrown';
}

describe('Redirect', () => {
  test('keeps all headers within the origin', () => {
    const from = hop('https://a.example/x');
    const next = followRedirect(from, 302, '../y?z=1');
    expect(next.url.href).toBe('https://a.example/y?z=1');
    expect(next.headers).toEqual(from.headers);
  });

  test.each([
    'https://b.example/',
    'https://a.example:8443/',
    'https://sub.a.example/',
    '//b.example/',
  ])('to the other origin %s drops anything that may be a credential', (location) => {
    const next = followRedirect(
      hop('https://a.example/', { method: 'POST', body: 'secret' }),
      307,
      location,
    );
    expect(Object.keys(next.headers).sort()).toEqual(['accept', 'user-agent']);
    expect(next).toMatchObject({ method: 'GET' });
    expect(next).not.toHaveProperty('body');
  });

  test('from http to https counts as another origin', () => {
    const next = followRedirect(hop('http://a.example/'), 301, 'https://a.example/');
    expect(next.headers).not.toHaveProperty('authorization');
  });

  test('never downgrades from https to http', () => {
    for (const location of ['http://a.example/', 'http://b.example/', 'HTTP://A.example:443/']) {
      expect(codeOf(() => followRedirect(hop('https://a.example/'), 302, location))).toBe(
        'scheme_not_allowed',
      );
    }
  });

  test('keeps a POST body only for 307 and 308', () => {
    const post = hop('https://a.example/', {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'application/json' },
    });
    for (const status of [307, 308]) {
      expect(followRedirect(post, status, '/y')).toMatchObject({ method: 'POST', body: 'x' });
    }
    for (const status of [301, 302, 303]) {
      const next = followRedirect(post, status, '/y');
      expect(next).toMatchObject({ method: 'GET', headers: {} });
      expect(next).not.toHaveProperty('body');
    }
  });

  test('keeps HEAD', () => {
    const next = followRedirect(hop('https://a.example/', { method: 'HEAD' }), 303, '/y');
    expect(next.method).toBe('HEAD');
  });

  test.each([
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['javascript:alert(1)', 'scheme_not_allowed'],
    ['ws://a.example/', 'scheme_not_allowed'],
    ['https://name:password@a.example/', 'url_not_allowed'],
    ['https://[::1', 'url_not_allowed'],
  ])('to %s is rejected', (location, code) => {
    expect(codeOf(() => followRedirect(hop('https://a.example/'), 302, location))).toBe(code);
  });

  test('requires one of five statuses and a location', () => {
    const redirects = Array.from({ length: 500 }, (_, index) => index + 100).filter((status) =>
      isRedirect(status, '/'),
    );
    expect(redirects).toEqual([301, 302, 303, 307, 308]);
    expect(isRedirect(302, undefined)).toBe(false);
  });
});

describe('Fetch target', () => {
  test('is quoted by host only if rejected', () => {
    for (const url of [
      'https://user-canary:password-canary@a.example/path-canary?key-canary',
      'wss://a.example/path-canary?key-canary',
      'path-canary',
      'foo:path-canary',
    ]) {
      try {
        parseTarget(url);
        expect.unreachable();
      } catch (error) {
        expect(JSON.stringify([error, String(error)])).not.toContain('canary');
      }
    }
  });

  test('may be a public address or a name', () => {
    for (const url of ['https://8.8.8.8/', 'http://[2606:4700:4700::1111]:8545/', 'https://a/']) {
      expect(() => assertPublicTarget(parseTarget(url))).not.toThrow();
    }
  });

  test('is rejected before sending if it is a blocked literal or port', () => {
    for (const url of ['http://127.1/', 'https://[::ffff:10.0.0.1]/', 'https://a.example:25/']) {
      expect(codeOf(() => assertPublicTarget(parseTarget(url)))).toBe('address_not_allowed');
    }
  });
});
