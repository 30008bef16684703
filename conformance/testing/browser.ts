/** A browser for the pages that the suite writes, and what a page must not do in it. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const WAIT_MAX_MS = 10_000;

/** A page of its own for each test of a file. */
export interface Pages {
  /** Opens the document; after the test it has complained of nothing and asked for nothing else. */
  open(): Promise<Page>;
  /** Where the document is. */
  readonly url: string;
}

/** Writes the document to a file, and starts a browser for the tests of the file at hand. */
export function browserOn(html: string): Pages {
  const file = join(mkdtempSync(join(tmpdir(), 'fleetbed-page-')), 'page.html');
  const url = pathToFileURL(file).href;
  let browser: Browser | undefined;
  let page: Page | undefined;
  let complaints: string[] = [];
  let asked: string[] = [];

  beforeAll(async () => {
    writeFileSync(file, html);
    if (!existsSync(chromiumPath)) throw new Error(`no chromium at ${chromiumPath}: CHROMIUM_PATH`);
    const args = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'];
    browser = await chromium.launch({ executablePath: chromiumPath, args });
  });

  afterAll(() => browser?.close());

  afterEach(async () => {
    expect(complaints).toEqual([]);
    expect(asked.filter((each) => !each.startsWith(url))).toEqual([]);
    await page?.close();
    page = undefined;
  });

  const open = async (): Promise<Page> => {
    if (!browser) throw new Error('a page is opened within a test');
    const opened = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    page = opened;
    opened.setDefaultTimeout(WAIT_MAX_MS);
    complaints = [];
    asked = [];
    opened.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    opened.on('pageerror', (error) => complaints.push(error.message));
    opened.on('request', (request) => asked.push(request.url()));
    await opened.goto(url);
    return opened;
  };
  return { open, url };
}
