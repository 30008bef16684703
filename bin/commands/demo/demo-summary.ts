/** The summary at the end of the demo: outcome of the fleet, verdicts and addresses. */
import Table from 'cli-table3';
import { type ConformanceResult, verdictNames } from '../../../conformance/result/result.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { keyTypes } from '../../../fixtures/contract/vocabulary.ts';
import type { RunningServer } from '../../../server/server.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { consoleUrl } from '../../server-access/ready.ts';

export interface DemoResults {
  readonly fleet: FleetResult;
  readonly conformance: ConformanceResult;
}

/** Returns all lines of the summary, including the addresses of the server if it keeps running. */
export function demoSummary(
  { fleet, conformance }: DemoResults,
  server: RunningServer | undefined,
): string {
  return [
    fleetTable(fleet),
    reconciliationLine(fleet),
    verdictTable(conformance),
    ...(server ? [addresses(server, fleet)] : []),
  ]
    .map((part) => `${part}\n`)
    .join('\n')
    .trimEnd();
}

/** The number of devices by outcome and key type. */
function fleetTable({ devices }: FleetResult): string {
  const table = new Table({ head: ['outcome', ...keyTypes, 'all'], ...plain });
  const outcomes = new Set(devices.map(({ outcome }) => outcome));
  for (const outcome of outcomes) {
    const devicesWithOutcome = devices.filter((device) => device.outcome === outcome);
    const byKey = keyTypes.map(
      (type) => devicesWithOutcome.filter(({ keyType }) => keyType === type).length,
    );
    table.push([outcome, ...byKey, devicesWithOutcome.length]);
  }
  return `Fleet: ${devices.length} devices\n${table.toString()}`;
}

function reconciliationLine({ reconciliation }: FleetResult): string {
  if (!reconciliation.checked)
    return `Reconciliation: not checked (${reconciliation.reason ?? 'no reason given'})`;
  if (reconciliation.ok) return 'Reconciliation: server and fleet agree on every device';
  return `Reconciliation: ${countText(reconciliation.differences.length, 'difference')} between server and fleet`;
}

/** The number of cases by verdict. */
function verdictTable({ outcome, totals, verdicts }: ConformanceResult): string {
  const table = new Table({ head: [...verdictNames, 'all'], ...plain });
  table.push([...verdictNames.map((name) => totals[name]), verdicts.length]);
  return `Suite: ${outcome}\n${table.toString()}`;
}

function addresses(server: RunningServer, { devices }: FleetResult): string {
  const { baseUrl, controlUrl, adminEmail, adminPassword } = server;
  const deviceId = devices.find(({ outcome }) => outcome === 'success')?.deviceId;
  const terminal = `npx fleetbed terminal --url ${baseUrl} --password ${adminPassword}`;
  return [
    `URL       ${baseUrl}`,
    `User      ${adminEmail} with password ${adminPassword}`,
    `Control   ${controlUrl}`,
    `Console   ${consoleUrl(server)}`,
    ...(deviceId === undefined ? [] : [`Terminal  ${terminal} ${deviceId}`]),
  ].join('\n');
}

/** Table style without colours, because the output may go to a file or a pipe. */
const plain = { style: { head: [], border: [], compact: true } };
