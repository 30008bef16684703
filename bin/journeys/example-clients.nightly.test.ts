import { describe, it } from 'vitest';
import { examples, expectKeptDuties } from '../testing/example-client.ts';

describe.each(examples)('the example client in %s', { timeout: 900_000 }, (_name, command) => {
  it('breaks no MUST in the quick client test, nor after it was killed at any moment', () =>
    expectKeptDuties(command));
});
