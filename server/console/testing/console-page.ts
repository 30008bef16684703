/**
 * Opens the console in a real browser for tests, and checks the page for forbidden requests,
 * overflow and accessibility.
 */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright';
import { expect } from 'vitest';

const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const chromiumFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  // Coloured edges of letters would double the size of screenshots.
  '--disable-lcd-text',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WAIT_MAX_MS = 15_000;

/** The address of the console and its control token. */
export interface ConsoleAddress {
  readonly controlUrl: string;
  readonly controlToken: string;
}

/** Starts the browser of a test. @throws Error that says how to install it */
export async function launchBrowser(): Promise<Browser> {
  if (!existsSync(chromiumPath)) {
    throw new Error(
      `no chromium at ${chromiumPath}: sudo apt-get install chromium, or CHROMIUM_PATH`,
    );
  }
  return chromium.launch({ executablePath: chromiumPath, args: chromiumFlags });
}

/** A page of the console, with the problems that the browser reported. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors and warnings of the browser, including violations of the Content-Security-Policy. */
  readonly complaints: string[];
  /** Addresses of other origins that the page requested. */
  readonly foreign: string[];
}

interface PageOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
}

/** Opens an empty page, and collects what the browser reports about it. */
export async function newPage(
  browser: Browser,
  { controlUrl }: Pick<ConsoleAddress, 'controlUrl'>,
  { width = 1280, colorScheme = 'light' }: PageOptions = {},
): Promise<ConsolePage> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
  page.setDefaultTimeout(WAIT_MAX_MS);
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(controlUrl) && !url.startsWith('blob:')) foreign.push(url);
  });
  return { page, complaints, foreign };
}

/** Opens the console at an address within the page, logged in. */
export async function openConsole(
  page: Page,
  { controlUrl, controlToken }: ConsoleAddress,
  view = '/',
): Promise<void> {
  await page.goto(`${controlUrl}/#token=${controlToken}`);
  await page.getByRole('navigation').waitFor();
  if (view !== '/') await goTo(page, view);
}

/** Navigates the page to another of its addresses by the fragment, as a link does. */
export async function goTo(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Checks with axe that the page breaks no accessibility rule. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axe.source);
  const result = await page.evaluate<AxeResult>('axe.run()');
  const broken = result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  expect(broken, where).toEqual([]);
}

/** Checks that the page does not scroll sideways. */
export async function expectNoOverhang(page: Page, where: string): Promise<void> {
  const overhang = () =>
    page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
  await expect.poll(overhang, { message: where }).toBe(0);
}

/**
 * Returns the text of each matching element that a reader sees without scrolling sideways: no
 * hidden text, and no character outside an element that clips it.
 */
export function readableTexts(page: Page, selector: string): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const clipsOf = (node) => {
      const clips = [];
      for (let at = node.parentElement; at && at !== document.body; at = at.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(at);
        const isRow = at.matches('.long-table');
        if (overflowX !== 'visible') clips.push([at.getBoundingClientRect(), overflowY !== 'visible' && !isRow]);
      }
      return clips;
    };
    const readable = (node) => {
      if (!node.parentElement.checkVisibility({ visibilityProperty: true })) return '';
      const clips = clipsOf(node);
      const range = document.createRange();
      const isSeen = (at) => {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = range.getBoundingClientRect();
        return clips.every(
          ([clip, isHigh]) =>
            box.left >= clip.left - 1 && box.right <= clip.right + 1 &&
            (!isHigh || (box.top >= clip.top - 1 && box.bottom <= clip.bottom + 1)),
        );
      };
      return [...node.data].map((each, at) => (isSeen(at) ? each : '')).join('');
    };
    return [...document.querySelectorAll(${JSON.stringify(selector)})].map((root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const texts = [];
      while (walker.nextNode()) texts.push(readable(walker.currentNode));
      return texts.join(' ').replace(/\\s+/g, ' ').trim();
    });
  })()`);
}
