/** `fleetbed conform client --set-up SCENE`: does on a running server what tests duties. */
import { knownNames } from '../../../../fixtures/base/nearest.ts';
import { callOf, needsOffer, scenesOnServer } from '../../../client-test/next-step-on-server.ts';
import { CommandError } from '../../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../../output/exit-codes.ts';
import { createOutput } from '../../../output/output.ts';
import { type ControlAccess, callControl } from '../../../server-access/control-listener.ts';
import { readClient } from './watch.ts';

interface SetUpOptions extends ControlAccess {
  readonly setUp: string;
  readonly device?: string;
  readonly json?: boolean;
}

/** Plans the faults of a scene, or moves the clock. @throws CommandError */
export async function setUpScene(options: SetUpOptions): Promise<ExitCode> {
  const { setUp: scene, device: deviceName } = options;
  const output = createOutput(options.json ?? false);
  const client = deviceName === undefined ? undefined : await readClient(options, deviceName);
  if (deviceName !== undefined && client === undefined)
    throw new CommandError(
      `${deviceName} has sent no request yet; start it first.`,
      exitCodes.failed,
    );
  const call = callOf(scene, client?.client);
  if (call === undefined) throw new CommandError(notOnRunningServer(scene), exitCodes.usage);
  const isClock = call.operation === 'POST /clock';
  const tenant = options.tenant === undefined ? {} : { tenant: options.tenant };
  const path = `${isClock ? '/clock' : '/faults'}?${new URLSearchParams(tenant)}`;
  const { body } = await callControl(options, path, {
    method: 'POST',
    expected: [200, 201],
    headers: { 'Content-Type': 'application/json' },
    body: isClock ? JSON.stringify(call.body) : call.body,
  });
  output.data({ scene, response: await body.json() });
  if (output.json) return exitCodes.pass;
  output.line(isClock ? 'The clock was moved.' : 'The faults are planned.');
  if (needsOffer(scene))
    output.line(`Now deploy: npx fleetbed deploy FILE --device ${client?.client ?? 'DEVICE'}`);
  if (!isClock) output.line('To remove them: npx fleetbed faults clear');
  return exitCodes.pass;
}

function notOnRunningServer(scene: string): string {
  const knownScenes = knownNames('scene', scene, scenesOnServer);
  return `A running server cannot set up the scene "${scene}"; ${knownScenes}.`;
}
