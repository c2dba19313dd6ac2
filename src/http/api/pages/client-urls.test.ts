import { describe, expect, test } from 'vitest';
import { urlsForClient } from './client-urls.ts';

const OWN = { api: 'http://0.0.0.0:5555', repository: 'http://0.0.0.0:10000' };

describe('Host URLs on a page', () => {
  test.each([
    ['192.168.1.5', 'http://192.168.1.5:10000'],
    ['box.lan', 'http://box.lan:10000'],
    ['[fd00::5]', 'http://[fd00::5]:10000'],
  ])('use the name by which a remote client reached the service: %s', (name, repository) => {
    const seen = urlsForClient(`http://${name}:5555/registry?q=a`, OWN, 'api');
    expect(seen).toEqual({ api: `http://${name}:5555`, repository });
  });

  test.each([
    ['on this machine', 'http://127.0.0.1:5555/', OWN],
    ['through a proxy, at another port', 'https://verify.example.org/', OWN],
    [
      'where they are told',
      'http://box.lan:443/',
      { api: 'https://a.example', repository: 'https://b.example' },
    ],
    ['where the host does not listen', 'http://box.lan:5555/', { repository: OWN.repository }],
  ])('stay unchanged %s', (_what, asked, urls) => {
    expect(urlsForClient(asked, urls, 'api')).toBe(urls);
  });

  test('keep a configured URL while the other follows the client', () => {
    const urls = { ...OWN, repository: 'https://repo.example.org' };
    expect(urlsForClient('http://box.lan:5555/', urls, 'api')).toEqual({
      api: 'http://box.lan:5555',
      repository: 'https://repo.example.org',
    });
  });
});
