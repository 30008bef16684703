import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ModelOptions, readSequence } from '../context/model-options.ts';
import { AdminFailure } from '../context/target-admin.ts';
import { ExpectationFailure } from '../target/expectations.ts';
import { contextOn } from '../testing/context-on.ts';
import { serve } from '../testing/stub-server.ts';
import { runRandomSequences, type SequenceOptions } from './random-sequences.ts';
import { configureByUserStep, configureStep, readConfigurationStep } from './store-steps.ts';

type Stores = Map<string, Record<string, string>>;

/** The effect of a write on a configuration store; tests inject faults here. */
type Write = (stores: Stores, device: string, pairs: Record<string, string>) => void;

const write: Write = (stores, device, pairs) => {
  const merged = Object.entries({ ...stores.get(device), ...pairs });
  stores.set(device, Object.fromEntries(merged.filter(([, value]) => value !== '')));
};

/** A server that accepts every device and stores configurations, but refuses those of users. */
function configurationServer(onWrite: Write): Promise<string> {
  const stores: Stores = new Map();
  let count = 0;
  return serve(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { url = '', method } = request;
    const device = request.headers.authorization ?? '';
    if (url.includes('/devauth/devices')) response.writeHead(201, { location: '/devices/7' });
    else if (url.includes('/auth_requests')) text = `token-${count++}`;
    else if (url.includes('/management/')) response.writeHead(500);
    else if (method === 'GET') text = JSON.stringify(stores.get(device) ?? {});
    else {
      onWrite(stores, device, JSON.parse(text));
      response.writeHead(204);
      text = '';
    }
    response.end(text);
  });
}

const device = fc.nat({ max: 2 });
const pairs = fc.dictionary(fc.constantFrom('colour', 'volume'), fc.constantFrom('one', ''), {
  minKeys: 1,
  noNullPrototype: true,
});
const options: SequenceOptions = {
  starts: fc.constant('accepted'),
  steps: [
    fc.tuple(device, pairs).map(([index, newPairs]) => configureStep(index, newPairs)),
    device.map(readConfigurationStep),
  ],
  sequences: 40,
};

async function findFailure(onWrite: Write, model: ModelOptions = {}): Promise<ExpectationFailure> {
  const context = contextOn(await configurationServer(onWrite), undefined, model);
  const failure = await runRandomSequences(context, options).catch((error: unknown) => error);
  if (failure instanceof ExpectationFailure) return failure;
  throw new Error(`no requirement was violated: ${failure}`);
}

/** A store in which a removed key reappears when another device writes. */
const restoreRemovedKey: Write = (stores, device, pairs) => {
  const removedKeys = Object.keys(pairs).filter((name) => pairs[name] === '' && stores.get(device));
  for (const [otherDevice, store] of stores) {
    if (otherDevice !== device && store.removed)
      stores.set(otherDevice, { ...store, [store.removed]: 'one' });
  }
  const earlierPairs = stores.get(device) ?? {};
  write(stores, device, pairs);
  const [name] = removedKeys.filter((each) => earlierPairs[each] !== undefined);
  if (name) stores.set(device, { ...stores.get(device), removed: name });
};

describe('random sequences of steps', () => {
  it('find no fault in a server that follows the contract', async () => {
    const context = contextOn(await configurationServer(write));
    await expect(runRandomSequences(context, options)).resolves.toBeDefined();
  });

  it('find no fault in a server that drops keys that a request omits', async () => {
    const replaceAll: Write = (stores, name, newPairs) => {
      stores.delete(name);
      write(stores, name, newPairs);
    };
    const context = contextOn(await configurationServer(replaceAll));
    await expect(runRandomSequences(context, options)).resolves.toBeDefined();
  });

  it('find a fault that takes two devices and an order, and report the shortest form', async () => {
    const { expected, violated } = await findFailure(restoreRemovedKey);
    expect(violated).toContain('configuration.empty-removes');
    const steps = expected.split(/; \d+\. /);
    expect(steps).toHaveLength(7);
    const [, , , set, remove, otherWrite, read] = steps;
    const [, name] = /^device ([ABC]) sets \{"\w+":"one"\}$/.exec(set ?? '') ?? [];
    expect(remove).toMatch(new RegExp(`^device ${name} sets \\{"\\w+":""\\}$`));
    expect(otherWrite).toMatch(new RegExp(`^device [^${name}] sets`));
    expect(read).toMatch(new RegExp(`^device ${name} reads its configuration`));
  });

  it('repeat a failure in one sequence with --model-sequence', async () => {
    const { expected } = await findFailure(restoreRemovedKey);
    const [, word = ''] = /\(--model-sequence (\S+) repeats it\)$/.exec(expected) ?? [];
    const fixedSequence = readSequence(word);
    if (!fixedSequence) throw new Error(`${word} is not a name of a sequence`);
    const secondFailure = await findFailure(restoreRemovedKey, { sequence: fixedSequence });
    const withoutWord = (text: string): string => text.replace(/ \(--model.*/, '');
    expect(withoutWord(secondFailure.expected)).toBe(withoutWord(expected));
  });

  it('are as many as requested, and depend on the seed', async () => {
    const runs: string[][] = [];
    for (const model of [{ sequences: 3, seed: 7 }, { sequences: 3, seed: 7 }, { seed: 8 }]) {
      const stepTexts: string[] = [];
      const recordAndWrite: Write = (stores, name, newPairs) => {
        stepTexts.push(JSON.stringify(newPairs));
        write(stores, name, newPairs);
      };
      const context = contextOn(await configurationServer(recordAndWrite), undefined, model);
      await runRandomSequences(context, options);
      runs.push(stepTexts);
    }
    expect(runs[0]).toEqual(runs[1]);
    expect(runs[2]?.length).toBeGreaterThan(runs[0]?.length ?? 0);
  });

  it('distinguish a shared store from one that loses writes', async () => {
    const writeToAll: Write = (stores, _, newPairs) => {
      for (const each of ['Bearer token-0', 'Bearer token-1', 'Bearer token-2'])
        write(stores, each, newPairs);
    };
    expect((await findFailure(writeToAll)).violated).toContain('configuration.own-store');
    const ignoreWrite: Write = () => undefined;
    expect((await findFailure(ignoreWrite)).violated).toContain('configuration.written-is-read');
  });

  it('decide nothing when the management API fails', async () => {
    const context = contextOn(await configurationServer(write));
    const steps = [device.map((index) => configureByUserStep(index, { colour: 'one' }))];
    await expect(runRandomSequences(context, { ...options, steps })).rejects.toThrow(AdminFailure);
  });

  it('decide nothing when no device can be created', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(500).end());
    await expect(runRandomSequences(contextOn(baseUrl), options)).rejects.toThrow(AdminFailure);
  });
});
