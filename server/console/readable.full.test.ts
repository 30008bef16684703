import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../testing/test-artifacts.ts';
import { deploy, nextRequests, report } from '../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import {
  goTo,
  launchBrowser,
  newPage,
  openConsole,
  readableTexts,
} from './testing/console-page.ts';

/** Texts as fleets have them: long, and different only at their ends. */
const names = ['1', '2', '3'].map((last) => `de:ad:be:ef:00:0${last} · warehouse-north-000${last}`);
const types = ['a', 'b', 'c'].map((last) => `industrial-gateway-4-64-rev-${last}`);
const releases = ['1', '2', '3'].map((last) => `gateway-image-2026.11.27-build-104${last}`);

let browser: Browser;
let server: TestServer;
let page: Page;
let devices: readonly AcceptedDevice[];
let deploymentId = '';

beforeAll(async () => {
  browser = await launchBrowser();
  server = await startTestServer();
  ({ page } = await newPage(browser, server));
  await fill();
  await openConsole(page, server);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function fill(): Promise<void> {
  const accepted: AcceptedDevice[] = [];
  for (const [at, name] of names.entries()) {
    const device = await acceptedDevice(server, name);
    const [device_type = '', artifact_name = ''] = [types[at], releases[at]];
    const json = Object.entries({ device_type, artifact_name }).map(([name, value]) => ({
      name,
      value,
    }));
    await server.call('put-attributes', { token: device.token, json });
    await publish(server, { name: artifact_name, deviceTypes: [...types] });
    accepted.push(device);
  }
  devices = accepted;
  for (const artifact_name of releases) {
    const id = await deploy(server, devices, { name: `to ${artifact_name}`, artifact_name });
    // The oldest is the one that the devices are offered.
    deploymentId ||= id;
  }
  for (const [at, { token }] of devices.entries()) {
    const device_type = types[at] ?? '';
    await nextRequests['POST v1'](server, token, { device_type, artifact_name: 'release-0' });
  }
  const [first] = devices;
  if (first)
    await report(server, first, { id: deploymentId, status: 'failure', substate: 'arrived' });
}

/** A list of the console, and what each of its rows has to say. */
interface List {
  readonly address: () => string;
  readonly rows: string;
  /** The texts of a row; rows of other subjects may stand between them. */
  readonly says: readonly (readonly string[])[];
  readonly press?: string;
}

const longRows = '.long-table tbody tr:not(.space)';
const tableRows = '.kit-table tbody tr';
const lists: Readonly<Record<string, List>> = {
  devices: {
    address: () => '/devices?sort=name',
    rows: longRows,
    says: names.map((name, at) => [name, 'Accepted', types[at] ?? '', releases[at] ?? '']),
  },
  'the journal': {
    address: () => '/journal?operation=post-next-deployment',
    rows: longRows,
    says: names.map((name) => ['post-next-deployment', '200', name]),
  },
  deployments: {
    address: () => '/deployments',
    rows: tableRows,
    says: releases.map((release) => [`to ${release}`, release]),
  },
  'the devices of a deployment': {
    address: () => `/deployments/${deploymentId}`,
    rows: longRows,
    says: names.map((name, at) => [name, at === 0 ? 'arrived' : 'Pending']),
  },
  'the deployments of a device': {
    address: () => `/devices/${devices[0]?.id}?tab=deployments`,
    rows: tableRows,
    says: releases.map((release) => [`to ${release}`, release]),
  },
  artifacts: {
    address: () => '/artifacts',
    rows: tableRows,
    says: releases.map((release) => [release, ...types]),
  },
  'the audit log': {
    address: () => '/audit?object_type=device',
    rows: tableRows,
    says: names.map((name) => [name]),
  },
};

describe.each([360, 1280])('in a window of %s pixels', (width) => {
  beforeAll(() => page.setViewportSize({ width, height: 800 }));

  it.each(Object.entries(lists))(
    'each row of %s is fully readable and differs from the other rows',
    async (_, list) => {
      await goTo(page, list.address());
      await page.locator(list.rows).nth(2).waitFor();
      await expect
        .poll(async () => {
          const rows = await readableTexts(page, list.rows);
          return list.says.filter(
            (texts) => !rows.some((row) => texts.every((text) => row.includes(text))),
          );
        })
        .toEqual([]);
    },
  );
});
