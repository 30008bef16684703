import { afterEach, describe, it } from 'vitest';
import { examples, Trial } from '../testing/example-client.ts';

let trial: Trial;
afterEach(() => trial.close());

const updated = ['downloading 204', 'installing 204', 'success 204'];

describe.each(examples)('the example client in %s', { timeout: 120_000 }, (_name, command) => {
  it('waits for its acceptance over TLS, and installs two updates in order', async () => {
    trial = await Trial.start(['--tls']);
    trial.startClient(command);
    await trial.control('/await?operation=post-auth-request&count=2&after=0');
    await trial.fleetbed('accept', '--all', ...trial.ca);
    await trial.deploy('release-2');
    await trial.untilReported(...updated);
    await trial.untilPolledWith('release-2');
    await trial.deploy('release-3');
    await trial.untilReported(...updated, ...updated);
    await trial.untilPolledWith('release-3');
    await trial.expectNoFinding();
  });
});
