/** `fleetbed devices`: lists the devices that a server knows. */
import type { Command } from 'commander';
import { printable } from '../../fixtures/base/printable.ts';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import type { InventoryDevice } from '../../fixtures/contract/management/inventory.ts';
import { deviceStatuses } from '../../fixtures/contract/vocabulary.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { borderlessTable } from '../output/borderless-table.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import { ManagementApi } from '../server-access/management-api.ts';
import { shownIdentity } from '../server-access/named-devices.ts';
import { addServerOptions, type ServerAccess } from '../server-access/server-options.ts';

interface DevicesOptions extends ServerAccess {
  readonly status?: readonly Device['status'][];
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'done',
  failed: 'the server refuses it',
  setUp: unreachableText.api,
});

const help = `
JSON is one line: [{id, identity, status, deviceType?, lastSeenAt?}].
${codes}`;

/** Adds the options and the action of `fleetbed devices`. */
export function configure(command: Command): void {
  addServerOptions(command)
    .option(
      '--status <status>',
      `only devices of this status (${deviceStatuses.join(', ')}); repeatable`,
      values.namesFrom(deviceStatuses),
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (options: DevicesOptions) => {
      process.exitCode = await listDevices(options);
    });
  addExamples(
    command,
    'fleetbed devices',
    'fleetbed devices --status pending --json',
    'fleetbed devices --url https://staging.example.com --email ci@example.com',
  );
}

async function listDevices(options: DevicesOptions): Promise<ExitCode> {
  const api = await ManagementApi.open(options);
  const all = await api.devices();
  const inventory = await api.pages((query) => api.call('list-inventory', { query }));
  const types = new Map(inventory.map((device) => [device.id, deviceTypeOf(device)]));
  const { status: wanted = deviceStatuses } = options;
  const listedDevices = all.filter(({ status }) => wanted.includes(status));
  const output = createOutput(options.json ?? false);
  output.data(
    listedDevices.map(({ id, identity_data: identity, status, check_in_time: lastSeenAt }) => {
      return { id, identity, status, deviceType: types.get(id), lastSeenAt };
    }),
  );
  if (output.json) return exitCodes.pass;
  if (listedDevices.length === 0) output.line('There are no devices.');
  else output.line(tableOf(listedDevices, types));
  return exitCodes.pass;
}

function deviceTypeOf({ attributes }: InventoryDevice): string | undefined {
  const value = attributes.find(({ name }) => name === 'device_type')?.value;
  return typeof value === 'string' ? value : undefined;
}

function tableOf(
  devices: readonly Device[],
  types: ReadonlyMap<string, string | undefined>,
): string {
  return borderlessTable(
    ['ID', 'IDENTITY', 'STATUS', 'DEVICE TYPE', 'LAST SEEN'],
    devices.map((device) => [
      printable(device.id),
      shownIdentity(device),
      device.status,
      printable(types.get(device.id) ?? '-'),
      device.check_in_time ?? '-',
    ]),
  );
}
