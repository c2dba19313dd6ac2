import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core';

const PACKAGE = '@sparticuz/chromium';
const requireHere = createRequire(import.meta.url);

/** Returns whether the browser of the npm package can run on this machine. */
export function hasBrowser(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  try {
    return existsSync(requireHere.resolve(PACKAGE));
  } catch {
    return false;
  }
}

/** Browser flags: only the pages themselves are reachable, and security features stay enabled. */
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
  // A page is open for about a second: its scripts finish before optimization pays off.
  '--js-flags=--no-turbofan',
  // Requests to other machines fail, so that no test depends on one.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

const FONTS = 'own-fonts.conf';

function fontsOf(folder: string): string {
  return `<?xml version="1.0"?><fontconfig><dir>${folder}</dir><cachedir>${folder}/cache</cachedir></fontconfig>`;
}

/** The version in the package's manifest, which its exports omit. */
async function readVersion(): Promise<string> {
  const entry = requireHere.resolve(PACKAGE);
  const root = entry.slice(0, entry.lastIndexOf(PACKAGE) + PACKAGE.length);
  const manifest = await readFile(path.join(root, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * The folder of the unpacked browser. The package unpacks into the system's temporary folder and treats any
 * existing file there as complete. It therefore unpacks in a process with a temporary folder of its own,
 * renamed to its final name when complete: concurrent processes do not see partial files.
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
 * The headless Chromium of this process, which reaches this machine only. It is kept for the next test file
 * and ends with the process: starting one takes a second of CPU time.
 */
async function useBrowser(): Promise<Browser> {
  if ((await shared)?.isConnected() !== true) shared = startBrowser();
  return shared as Promise<Browser>;
}

/** Closes all open tabs. */
export async function closeTabs(): Promise<void> {
  const contexts = (await shared)?.contexts() ?? [];
  await Promise.all(contexts.map((context) => context.close()));
}

/** Stops the browser of this process, for programs other than tests. */
export async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
}

/** Starts a separate headless Chromium, which its caller closes. */
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
      // The package contains a font for machines without any.
      ...(!existsSync('/etc/fonts/fonts.conf') && { FONTCONFIG_FILE: path.join(folder, FONTS) }),
    },
  });
}

/** Viewport and preferences of a visitor. */
export interface Look {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
}

/** The looks in which every view must be correct. */
export const LOOKS: readonly Look[] = [
  { name: 'light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'narrow', width: 320, height: 640, colorScheme: 'light' },
  { name: 'narrow-dark', width: 320, height: 640, colorScheme: 'dark' },
];

/** The submit button of the verification form, labelled with its action. */
export const SEND = /^(Verify|Compile with .+ and compare)$/;

/** A tab and the problems that occurred in it. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the content security policy, script errors and console errors. */
  readonly troubles: readonly string[];
  /** Requests to origins other than the page's. */
  readonly foreignRequests: readonly string[];
}

const TELL_OF_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  reportViolation('policy violated: ' + [event.effectiveDirective, event.blockedURI, event.sample].join(' ')))`;

/** Browser timeout on a shared machine. */
const WAIT_MS = 90_000;

/** Opens a tab that records problems. */
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
    // The browser itself reports unsuccessful statuses; tests of such pages expect them.
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

/** A script has hydrated the page once preact has marked the root; a page without scripts has no mark. */
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

/** Opens a page and waits for hydration; the event stream may stay open. */
export async function visit({ page }: WatchedPage, url: string): Promise<number> {
  const response = await page.goto(url, { waitUntil: 'load' });
  // The view is loaded by its own import, which the page's load event does not wait for.
  await page.evaluate(TAKEN_UP);
  return response?.status() ?? 0;
}

/**
 * Saves a picture of a page or of a part of it, in the folder that FULLMATCH_SCREENSHOTS names; without it does
 * nothing, since drawing a whole page takes a second.
 */
export async function takePicture(shown: Page | Locator, name: string): Promise<void> {
  const folder = process.env['FULLMATCH_SCREENSHOTS'];
  if (folder === undefined) return;
  const file = path.join(folder, `${name}.png`);
  await ('goto' in shown
    ? shown.screenshot({ path: file, fullPage: true })
    : shown.screenshot({ path: file }));
}

/** Waits for the page at the target of a link or form, hydrated. */
export async function arrive(
  { page }: WatchedPage,
  url: Parameters<WatchedPage['page']['waitForURL']>[0],
): Promise<void> {
  await page.waitForURL(url);
  await page.evaluate(TAKEN_UP);
}

/** A page waits for its service and for frames about as long as it computes. */
const TABS_AT_ONCE = 3;

/** Processes each item, in a few tabs concurrently. */
export async function eachInTabs<T>(
  things: readonly T[],
  open: () => Promise<WatchedPage>,
  work: (tab: WatchedPage, thing: T) => Promise<void>,
): Promise<void> {
  // An item taken by one tab is not taken by another.
  const queue = things.values();
  const lane = async (): Promise<void> => {
    const tab = await open();
    for (const thing of queue) await work(tab, thing);
    await tab.context.close();
  };
  await Promise.all(Array.from({ length: Math.min(TABS_AT_ONCE, things.length) }, lane));
}

/**
 * By how many pixels the page scrolls sideways or, on a narrow screen, its tabs or a table whose rows are cards
 * there, if that is more.
 */
export function sidewaysScroll({ page }: WatchedPage): Promise<number> {
  return page.evaluate<number>(`{
    const parts = innerWidth > 480 ? [] : document.querySelectorAll('.tabs ul, div:has(> .cards)');
    Math.max(
      ...[document.documentElement, ...parts].map((part) => part.scrollWidth - part.clientWidth),
    );
  }`);
}
