import { describe, expect, it } from 'vitest';
import { CommandError, describeError, setupError } from './command-error.ts';
import { exitCodes, worstExitCode } from './exit-codes.ts';

function systemError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`connect ${code}`), { code, ...more });
}

describe('error messages for people', () => {
  it.each([
    ['ECONNREFUSED', /nothing listens there; check --url/],
    ['ENOTFOUND', /no host has this name/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /try http:\/\//],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /self-signed; .*--ca FILE/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /--ca FILE/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /--ca FILE/],
    ['CERT_HAS_EXPIRED', /expired/],
    ['CERT_NOT_YET_VALID', /not valid yet/],
    ['HPE_INVALID_CONSTANT', /not an HTTP server/],
  ])('explain %s and its remedy, with exit code 3', (code, sentence) => {
    const report = describeError(systemError(code), 'https://h');
    expect(report.exitCode).toBe(3);
    expect(report.sentence).toMatch(sentence);
    expect(report.sentence).toMatch(/^https:\/\/h: /);
  });

  it('explain that HTTP clients block a port, which only the message of fetch shows', async () => {
    const error: unknown = await fetch('http://127.0.0.1:1').catch((cause: unknown) => cause);
    const { sentence, exitCode } = describeError(error, 'http://127.0.0.1:1');
    expect([exitCode, sentence]).toEqual([
      3,
      expect.stringMatching(/:1: HTTP clients block this port.*another port$/),
    ]);
  });

  it('contain the innermost cause when a fetch fails for an unknown reason', () => {
    const error = new TypeError('fetch failed', { cause: new Error('odd proxy') });
    expect(setupError(error, 'http://h').message).toMatch(
      /^http:\/\/h: the request failed \(odd proxy\); check --url/,
    );
  });

  it('explain a known cause inside other errors', () => {
    const wrapped = new Error('outer', {
      cause: new Error('inner', { cause: systemError('EPROTO') }),
    });
    expect(describeError(wrapped).sentence).toContain('does not speak TLS');
    const several = new AggregateError([systemError('ECONNREFUSED')]);
    expect(describeError(new Error('outer', { cause: several })).exitCode).toBe(3);
  });

  it('contain the number of a busy port', () => {
    expect(describeError(systemError('EADDRINUSE', { port: 8080 })).sentence).toMatch(
      /^port 8080 is in use; .*0 for any free/,
    );
  });

  it('contain the unchanged sentence of a CommandError, with its exit code', () => {
    const error = new CommandError('cannot write x: the disk is full', exitCodes.setUp);
    expect(describeError(new Error('outer', { cause: error }))).toEqual({
      exitCode: 3,
      sentence: 'cannot write x: the disk is full',
    });
  });

  it.each([[new TypeError('x is undefined')], ['thrown text'], [undefined]])(
    'describe any other error as internal, with exit code 70: %s',
    (error) => {
      const report = describeError(error);
      expect(report.exitCode).toBe(70);
      expect(report.sentence).toMatch(/^internal error: /);
    },
  );

  it('are found even if the causes form a circle', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    expect(describeError(circle).exitCode).toBe(70);
  });

  it('describe every failed set-up with exit code 3', () => {
    expect(setupError(new Error('no such artifact'), 'http://h')).toMatchObject({
      exitCode: 3,
      message: 'no such artifact',
    });
    expect(setupError(systemError('ECONNREFUSED'), 'http://h').message).toMatch(/^http:\/\/h: /);
  });
});

describe('the exit codes of all commands', () => {
  it('have the documented values', () => {
    expect(exitCodes).toEqual({
      pass: 0,
      failed: 1,
      usage: 2,
      setUp: 3,
      inconclusive: 4,
      generatorLimited: 5,
      notAccepted: 6,
      incomplete: 7,
      internal: 70,
      interrupted: 130,
      outputClosed: 141,
    });
  });

  it.each([
    [[0, 0], 0],
    [[0, 4], 4],
    [[4, 1], 1],
    [[5, 1], 1],
    [[4, 5], 5],
    [[5, 0], 5],
    [[6, 4], 6],
    [[7, 6], 7],
    [[1, 70], 1],
    [[70, 4], 70],
    [[], 4],
  ] as const)('combine the parts %j to %d', (parts, whole) => {
    expect(worstExitCode(parts)).toBe(whole);
  });
});
