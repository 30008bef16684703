/** The tables of devices and deployments, and the counts above them. */
import { byId, element, moment, state, type Tone } from './element.ts';
import type { DeploymentRow, DeviceRow, Overview } from './overview.ts';

const deviceTones: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  preauthorized: 'busy',
  pending: 'busy',
  rejected: 'bad',
  noauth: 'waiting',
};

const deploymentTones: Readonly<Record<string, Tone>> = {
  finished: 'good',
  inprogress: 'busy',
  pending: 'waiting',
};

const deploymentWords: Readonly<Record<string, string>> = { inprogress: 'in progress' };

/** In the order of a bar's segments; statuses not listed here are in progress. */
const partTones: ReadonlyMap<string, Tone> = new Map([
  ['success', 'good'],
  ['already-installed', 'good'],
  ['failure', 'bad'],
  ['aborted', 'bad'],
  ['noartifact', 'bad'],
  ['decommissioned', 'bad'],
  ['rebooting', 'busy'],
  ['installing', 'busy'],
  ['downloading', 'busy'],
  ['pending', 'waiting'],
]);
const partOrder = [...partTones.keys()];

/** Replaces the shown overview. */
export function showOverview(overview: Overview): void {
  byId('counts', HTMLUListElement).replaceChildren(...counts(overview.deviceCounts));
  fill('deployments', overview.deployments.map(deploymentRow), 4, [
    'No deployment yet. Upload an artifact and deploy it through the management API, or run ',
    element('code', {}, 'fleetbed demo'),
    '.',
  ]);
  fill('devices', overview.devices.map(deviceRow), 6, [
    'No device has called yet. Point one at this server, or run ',
    element('code', {}, 'fleetbed simulate'),
    '.',
  ]);
}

function fill(
  id: string,
  rows: HTMLTableRowElement[],
  columns: number,
  whenEmpty: readonly (Node | string)[],
): void {
  const body = byId(id, HTMLTableSectionElement);
  const cell = element('td', { colspan: String(columns) }, ...whenEmpty);
  body.replaceChildren(...(rows.length > 0 ? rows : [element('tr', { class: 'hint' }, cell)]));
  body.setAttribute('aria-busy', 'false');
}

function counts(byStatus: Readonly<Record<string, number>>): HTMLLIElement[] {
  const known = Object.entries(byStatus).filter(([, count]) => count > 0);
  const total = known.reduce((sum, [, count]) => sum + count, 0);
  return [
    tile(total, element('span', {}, total === 1 ? 'device' : 'devices')),
    ...known.map(([status, count]) => tile(count, state(status, deviceTones[status] ?? 'waiting'))),
  ];
}

function tile(count: number, label: HTMLElement): HTMLLIElement {
  return element('li', {}, element('b', {}, count.toLocaleString()), label);
}

function deviceRow(device: DeviceRow): HTMLTableRowElement {
  const { id, status, deviceType, artifactName, checkedInAt } = device;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, ...named(identityText(device.identity), id)),
    element('td', {}, state(status, deviceTones[status] ?? 'waiting')),
    element('td', {}, clipped(deviceType ?? '–')),
    element('td', {}, clipped(artifactName ?? '–')),
    element('td', {}, device.connected ? state('open', 'good') : '–'),
    element('td', { class: 'time' }, checkedInAt ? moment(checkedInAt) : 'never'),
  );
}

function deploymentRow(deployment: DeploymentRow): HTMLTableRowElement {
  const { name, artifactName, type, status, createdAt } = deployment;
  const subtitle = type === 'configuration' ? 'configuration' : artifactName;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, ...named(name, subtitle)),
    element(
      'td',
      {},
      state(deploymentWords[status] ?? status, deploymentTones[status] ?? 'waiting'),
    ),
    element('td', {}, ...progress(deployment)),
    element('td', { class: 'time' }, moment(createdAt)),
  );
}

/** Text that must not widen its table; complete in its title. */
function clipped(text: string): HTMLElement {
  return element('span', { class: 'clip', title: text }, text);
}

function named(title: string, subtitle: string): HTMLElement[] {
  return [
    element('span', { class: 'name', title }, title),
    element('span', { class: 'sub', title: subtitle }, subtitle),
  ];
}

/** Returns `mac 00:11, serial 7` from the identity's JSON text, or the text itself. */
function identityText(identity: string): string {
  try {
    const pairs = Object.entries(JSON.parse(identity) as Record<string, unknown>);
    return pairs.map(([name, value]) => `${name} ${plain(value)}`).join(', ') || identity;
  } catch (error) {
    if (error instanceof SyntaxError) return identity;
    throw error;
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a bar with one segment per status, and the same in words. */
function progress({ statistics, deviceCount }: DeploymentRow): HTMLElement[] {
  const parts = Object.entries(statistics)
    .filter(([, count]) => count > 0)
    .sort(([one], [other]) => partOrder.indexOf(one) - partOrder.indexOf(other));
  const pieces = parts.map(([status, count]) => {
    const piece = element('span', { 'data-tone': partTones.get(status) ?? 'busy' });
    piece.style.flexGrow = String(count);
    return piece;
  });
  const words = parts.map(([status, count]) => `${count} ${status}`).join(', ');
  return [
    element('div', { class: 'bar-pieces', 'aria-hidden': 'true' }, ...pieces),
    element('span', { class: 'sub whole' }, words || `${deviceCount} waiting`),
  ];
}
