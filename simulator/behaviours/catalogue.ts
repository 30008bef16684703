/** All behaviours, one row each. The fleet picks them by weight; nothing asks for one by name. */
import { type Behaviour, type BehaviourParameters, UpdateFailure } from './behaviour.ts';

const parameters: BehaviourParameters = { installMs: 200, rebootMs: 300 };

const rows: readonly Behaviour[] = [
  {
    name: 'steady',
    standsFor: 'A healthy device: it takes every update that it is offered and comes up again.',
    parameters,
    hooks: {},
  },
  {
    name: 'failing-install',
    standsFor: 'A device whose storage is worn out: writing the payload fails, and it says so.',
    parameters,
    hooks: {
      async whileInstalling(moment) {
        moment.log('warning', 'mmc0: data error, sector 2097152, retrying');
        moment.log('error', 'writing the payload: input/output error');
        throw new UpdateFailure('the payload could not be written: input/output error');
      },
    },
  },
  {
    name: 'aborted-midway',
    standsFor: 'A device that its operator takes out of the deployment while it installs.',
    parameters,
    hooks: {
      async whileInstalling(moment) {
        const aborted = await moment.askForAbort();
        moment.log('info', aborted ? 'the operator aborted the update' : 'nobody could abort it');
      },
    },
  },
  {
    name: 'already-installed',
    standsFor: 'A device that was flashed with the deployed artifact before it left the factory.',
    parameters,
    hooks: { installedAtStart: ({ deployedArtifact }) => deployedArtifact },
  },
];

/** Every behaviour by its name. */
export const behaviours: ReadonlyMap<string, Behaviour> = new Map(
  rows.map((behaviour) => [behaviour.name, behaviour]),
);
