import { describe, expect, it } from 'vitest';
import { behaviours } from './catalogue.ts';
import { parameterProblem, shownParameters } from './parameters.ts';

const names = [
  'steady',
  'slow',
  'night-only',
  'already-installed',
  'flaky-2g',
  'clock-skew',
  'alert-storm',
  'socket-flapping',
  'key-rotation',
  'cloned-identity',
  'failing-install',
  'failing-commit',
  'wrong-checksum',
  'disk-full',
  'refuse',
  'hang-while-downloading',
  'hang-for-ever',
  'reboot-loop',
  'bricked',
  'crash-and-resume',
  'aborted-midway',
  'big-logs',
  'never-renews',
  'ignores-429',
  'reports-success-without-installing',
  'floods',
  'polls-in-lockstep',
  'ignores-409',
  'keeps-a-finished-deployments-id',
];

describe('the catalogue of behaviours', () => {
  it('contains exactly the behaviours of this list, in order', () => {
    expect([...behaviours.keys()]).toEqual(names);
  });

  it.each([...behaviours.values()])(
    'describes $name and how a good server treats it',
    ({ name, description, expectedServerBehaviour }) => {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(description).toMatch(/^[A-Z].{20,}\.$/);
      expect(expectedServerBehaviour).toMatch(/^[A-Z].{20,}\.$/);
    },
  );

  it.each([...behaviours.values()])('states the unit of each number of $name', (behaviour) => {
    for (const { name, value } of shownParameters(behaviour)) {
      expect([name, parameterProblem(name, value)]).toEqual([name, undefined]);
    }
  });

  it('has a steady behaviour that does nothing unusual', () => {
    expect(behaviours.get('steady')?.hooks).toEqual({});
  });

  it('starts an already-installed device with the deployed artifact, if there is one', () => {
    const { installedAtStart } = behaviours.get('already-installed')?.hooks ?? {};
    expect(installedAtStart?.({ deployedArtifact: 'release-2' })).toBe('release-2');
    expect(installedAtStart?.({ deployedArtifact: undefined })).toBeUndefined();
  });
});
