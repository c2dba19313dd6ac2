import { accessTokens, choice, integer, section, toggle, unset } from './setting-schemas.ts';

/** Settings for write access over the network. */
export const access = section('Who may verify contracts and import signatures over the network.', {
  verify: choice(['open', 'token', 'off'], 'open', {
    description:
      'Whether everyone may, those who send a token, or no one; commands on this machine always may.',
  }),
  tokens: unset(accessTokens, {
    description:
      'Tokens, each after the name of its holder, in addition to those of fullmatch tokens create; sent as `Authorization: Bearer`, or as the API key of the Etherscan API.',
    expected: 'names with tokens of 16 characters or more, such as [ci:0123456789ABCDEF]',
    secret: true,
  }),
  unlisted: toggle(false, {
    description:
      'Whether clients with a token may verify unlisted contracts under /unlisted, which only tokens can read: they are in no list, count, event or document.',
  }),
  verificationsPerHour: integer([0, 1_000_000], 0, {
    description:
      'How many verification requests one client (a token, or else a network) may send to this process per hour; further ones get 429; 0 for no limit.',
  }),
});
