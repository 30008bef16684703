/** `fleetbed accept`: accepts pending devices. */
import type { Command } from 'commander';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import { jsonOption } from '../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import { ManagementApi } from '../server-access/management-api.ts';
import { namedDevices, shownIdentity } from '../server-access/named-devices.ts';
import { addServerOptions, type ServerAccess } from '../server-access/server-options.ts';

interface AcceptOptions extends ServerAccess {
  readonly all?: boolean;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'done',
  failed: 'the server refuses it, or knows no such device',
  setUp: unreachableText.api,
});

const help = `
JSON is one line: {accepted: [id], alreadyAccepted: [id]}.
${codes}`;

/** Adds the options and the action of `fleetbed accept`. */
export function configure(command: Command): void {
  addServerOptions(command)
    .argument('[device...]', 'ID, or a value of the identity such as the MAC address')
    .option('--all', 'all pending devices')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (names: readonly string[], options: AcceptOptions) => {
      if ((names.length === 0) !== (options.all === true)) {
        command.error('name devices, or give --all');
      }
      process.exitCode = await accept(names, options);
    });
  addExamples(command, 'fleetbed accept 02:00:00:00:00:01', 'fleetbed accept --all');
}

async function accept(names: readonly string[], options: AcceptOptions): Promise<ExitCode> {
  const api = await ManagementApi.open(options);
  const all = await api.devices();
  const chosenDevices = options.all
    ? all.filter(({ status }) => status === 'pending')
    : namedDevices(all, names);
  const output = createOutput(options.json ?? false);
  const acceptedIds: string[] = [];
  const alreadyAccepted: string[] = [];
  for (const device of chosenDevices) {
    const { id } = device;
    const isDone = !(await acceptOne(api, device));
    (isDone ? alreadyAccepted : acceptedIds).push(id);
    if (output.json) continue;
    output.line(`${id} (${shownIdentity(device)}) ${isDone ? 'was already' : 'is now'} accepted.`);
  }
  output.data({ accepted: acceptedIds, alreadyAccepted });
  if (!output.json && chosenDevices.length === 0) output.line('No device is pending.');
  return exitCodes.pass;
}

/**
 * Accepts the newest pending key of the device, or its newest key when none is pending. Returns
 * false when the device was accepted before.
 */
async function acceptOne(api: ManagementApi, device: Device): Promise<boolean> {
  const newestFirst = device.auth_sets.toSorted((one, other) => (one.ts < other.ts ? 1 : -1));
  const pending = newestFirst.find(({ status }) => status === 'pending');
  if (device.status === 'accepted' && !pending) return false;
  const set = pending ?? newestFirst[0];
  if (!set) return false;
  const parameters = { id: device.id, aid: set.id };
  await api.call('set-auth-set-status', { parameters, json: { status: 'accepted' } });
  return true;
}
