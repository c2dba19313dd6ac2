import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const PACKAGE = '@sparticuz/chromium';
const requireHere = createRequire(import.meta.url);

/** Whether the browser of the npm package can run on this machine. */
export function hasBrowser(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  try {
    return existsSync(requireHere.resolve(PACKAGE));
  } catch {
    return false;
  }
}

/** What makes a tab: nothing goes out but to the pages themselves, and their security stays as browsers have it. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--font-render-hinting=none',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--no-default-browser-check',
  '--no-first-run',
  // A page is open for a second: what it runs is over before optimising it has paid.
  '--js-flags=--no-turbofan',
  // Whatever a page asks of another machine fails, so that no test depends on one.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

const FONTS = 'own-fonts.conf';

function fontsOf(folder: string): string {
  return `<?xml version="1.0"?><fontconfig><dir>${folder}</dir><cachedir>${folder}/cache</cachedir></fontconfig>`;
}

/** The version in the package's manifest, which its exports do not name. */
async function readVersion(): Promise<string> {
  const entry = requireHere.resolve(PACKAGE);
  const root = entry.slice(0, entry.lastIndexOf(PACKAGE) + PACKAGE.length);
  const manifest = await readFile(path.join(root, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * The folder of the unpacked browser. The package unpacks into the system's temporary folder and takes a file that is
 * there for a whole one. So it unpacks in a process with a temporary folder of its own, which gets its name by one
 * rename when it is whole: processes that do so at once do not see each other's halves.
 */
async function unpack(): Promise<string> {
  const user = process.getuid?.() ?? 0;
  const folder = path.join(tmpdir(), `fullmatch-chromium-${await readVersion()}-${user}`);
  if (existsSync(folder)) return folder;
  const staging = await mkdtemp(`${folder}-`);
  const script = `const { default: chromium } = await import(${JSON.stringify(PACKAGE)}); await chromium.executablePath();`;
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      cwd: import.meta.dirname,
      env: { PATH: process.env['PATH'], HOME: staging, TMPDIR: staging },
    });
    await writeFile(path.join(staging, FONTS), fontsOf(path.join(folder, 'fonts')));
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

let shared: Promise<Browser> | undefined;

/**
 * The headless Chromium of this process, which reaches this machine only. It stays for the next test file and ends with the
 * process: starting one takes a second of a processor.
 */
async function useBrowser(): Promise<Browser> {
  if ((await shared)?.isConnected() !== true) shared = startBrowser();
  return shared as Promise<Browser>;
}

/** Closes the tabs that are still open. */
export async function closeTabs(): Promise<void> {
  const contexts = (await shared)?.contexts() ?? [];
  await Promise.all(contexts.map((context) => context.close()));
}

/** Ends the browser of this process, for programs that are no tests. */
export async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
}

/** Starts a headless Chromium of its own, which its caller closes. */
export async function startBrowser(): Promise<Browser> {
  const folder = await unpack();
  return chromium.launch({
    executablePath: path.join(folder, 'chromium'),
    args: ARGUMENTS,
    chromiumSandbox: false,
    headless: true,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      // The package brings a font for machines that have none at all.
      ...(!existsSync('/etc/fonts/fonts.conf') && { FONTCONFIG_FILE: path.join(folder, FONTS) }),
    },
  });
}

/** How somebody looks at a page. */
export interface Look {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
}

/** The looks in which every view has to be good. */
export const LOOKS: readonly Look[] = [
  { name: 'light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'narrow', width: 320, height: 640, colorScheme: 'light' },
  { name: 'narrow-dark', width: 320, height: 640, colorScheme: 'dark' },
];

/** The button of the verification form, which says what it will do. */
export const SEND = /^(Verify|Compile with .+ and compare)$/;

/** A tab, and what went wrong in it. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the content security policy, errors of scripts, lines of the console that say an error. */
  readonly troubles: readonly string[];
  /** Requests that left for another origin than the page's. */
  readonly foreignRequests: readonly string[];
}

const TELL_OF_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  reportViolation('policy violated: ' + [event.effectiveDirective, event.blockedURI, event.sample].join(' ')))`;

/** How long a browser on a machine that others use may take. */
const WAIT_MS = 90_000;

/** Opens a tab that writes down what goes wrong in it. */
export async function openTab(
  look: Look = LOOKS[0]!,
  options: { readonly javaScriptEnabled?: boolean; readonly reducedMotion?: 'reduce' } = {},
): Promise<WatchedPage> {
  const browser = await useBrowser();
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.colorScheme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    ...options,
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const troubles: string[] = [];
  const foreignRequests: string[] = [];
  await page.exposeBinding('reportViolation', (_source, text: string) => troubles.push(text));
  await page.addInitScript(TELL_OF_VIOLATIONS);
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A status that is not a success is said by the browser itself; tests of such pages expect it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      troubles.push(`console: ${message.text()}`);
    }
  });
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && hostname !== '127.0.0.1') {
      foreignRequests.push(request.url());
    }
  });
  return { page, context, troubles, foreignRequests };
}

/** A script has taken the page up when preact has left its mark on the root; a page without scripts has none. */
const TAKEN_UP = `new Promise((done) => {
  const root = document.querySelector('#page');
  const latest = performance.now() + ${WAIT_MS};
  const look = () => {
    const isTaken = root === null || Object.keys(root).some((key) => key.startsWith('__'));
    if (isTaken || performance.now() > latest) setTimeout(done, 50);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** Opens a page and waits until its script has taken it up; the stream of events may stay open. */
export async function visit({ page }: WatchedPage, url: string): Promise<number> {
  const response = await page.goto(url, { waitUntil: 'load' });
  // The view comes by an import of its own, which the load of the page does not wait for.
  await page.evaluate(TAKEN_UP);
  return response?.status() ?? 0;
}

/** Waits for the page at an address that a link or a form leads to, taken up by its script. */
export async function arrive(
  { page }: WatchedPage,
  url: Parameters<WatchedPage['page']['waitForURL']>[0],
): Promise<void> {
  await page.waitForURL(url);
  await page.evaluate(TAKEN_UP);
}

/** A page waits for its service and for frames about as long as it works. */
const TABS_AT_ONCE = 3;

/** Does something for each thing, in a few tabs at once. */
export async function eachInTabs<T>(
  things: readonly T[],
  open: () => Promise<WatchedPage>,
  work: (tab: WatchedPage, thing: T) => Promise<void>,
): Promise<void> {
  // What one tab takes from it, no other gets.
  const queue = things.values();
  const lane = async (): Promise<void> => {
    const tab = await open();
    for (const thing of queue) await work(tab, thing);
    await tab.context.close();
  };
  await Promise.all(Array.from({ length: Math.min(TABS_AT_ONCE, things.length) }, lane));
}

/** How many pixels the page itself can be scrolled sideways: 0 is what people need. */
export function sidewaysScroll({ page }: WatchedPage): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
