/**
 * Next steps that test a duty while a client is watched: the scenes of the client test, as far as a
 * request to the control listener runs them on a running server.
 */
import { nextStep, type SceneName } from '../../conformance/client-judge/scene-names.ts';
import { isObject } from '../../fixtures/base/json.ts';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import type { ClientDuty, ClientFacts } from '../../server/client-feed/client-reader.ts';
import type { Step } from './scene.ts';
import { allScenes } from './scenes.ts';

type Next = NonNullable<ClientDuty['next']>;

/** Scenes of a server with other settings cannot be run on a running one. */
const steps = new Map<string, readonly Step[]>(
  allScenes.flatMap(({ name, server, steps: sceneSteps }) =>
    server ? [] : [[name, sceneSteps] as const],
  ),
);

/** Commands for scenes that a user plays by one command, by the ID of the device. */
const commands: Partial<Readonly<Record<SceneName, (device: string) => string>>> = {
  'first-contact': (device) => `npx fleetbed accept ${device}`,
  pending: (device) => `npx fleetbed accept ${device}`,
  update: deployTo,
  'second-update': deployTo,
  inventory: deployTo,
};

function deployTo(device: string): string {
  return `npx fleetbed deploy release-2.mender --device ${device}`;
}

/** Returns the next step for a duty. @param scene undefined for ordinary traffic */
export function nextOnServer(
  scene: SceneName | undefined,
  { device, deployment }: ClientFacts,
): Next {
  const { text, command } = nextStep(scene);
  if (scene === undefined || scene === 'ordinary-traffic') return { text };
  const call = callOf(scene, device);
  const goesOn = deployment === undefined ? 'deploy to the client' : `let ${deployment} continue`;
  const deviceWord = shellWord(device ?? 'DEVICE');
  const sceneCommand = commands[scene]?.(deviceWord);
  const setUpCommand = `npx fleetbed conform client --set-up ${scene} --device ${deviceWord}`;
  const shownCommand = sceneCommand ?? (call ? setUpCommand : command);
  return {
    text: call && needsOffer(scene) ? `${text}: plan the fault, then ${goesOn}` : text,
    ...(call && { call }),
    ...(shownCommand !== undefined && { command: shownCommand }),
  };
}

/** Names of the scenes that a request to the control listener runs. */
export const scenesOnServer: readonly string[] = [...steps.keys()].filter((name) =>
  callOf(name, undefined),
);

/** Returns true if a scene acts on a client that is offered an update. */
export function needsOffer(scene: string): boolean {
  return steps.get(scene)?.some((step) => 'deploy' in step) ?? false;
}

/**
 * Returns the request that runs the first thing that a scene does to the server.
 * @param device ID of the device to which faults are restricted
 */
export function callOf(scene: string, device: string | undefined): Next['call'] {
  const first = steps.get(scene)?.find((step) => 'faults' in step || 'advanceSeconds' in step);
  if (first === undefined) return undefined;
  if ('advanceSeconds' in first)
    return { operation: 'POST /clock', body: { advanceSeconds: first.advanceSeconds } };
  if (!('faults' in first)) return undefined;
  const rules = first.faults.map((rule) => limitToDevice(rule, device));
  return { operation: 'POST /faults', body: JSON.stringify({ rules }) };
}

/** Restricts a rule to one device. */
function limitToDevice(rule: object, device: string | undefined): object {
  const { match } = rule as { readonly match?: unknown };
  if (device === undefined || !isObject(match)) return rule;
  return { ...rule, match: { ...match, deviceId: device } };
}
