import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addRunOptions } from '../commands/simulate/simulate.ts';
import { type VirtualOptions, virtualPlanProblem, virtualProblem } from './options.ts';
import { smallRun } from './testing/small-run.ts';

function parseOptions(...args: string[]): Command {
  const quiet = { writeErr: () => undefined };
  const command = addRunOptions(new Command()).exitOverride().configureOutput(quiet);
  return command.parse(args, { from: 'user' });
}

const { plan } = smallRun();

describe('the options of virtual time', () => {
  it('exclude options for a server, its user, connections and other processes', () => {
    const wrong = (...args: string[]) => virtualProblem(parseOptions('--virtual', ...args));
    expect(wrong('--url', 'http://127.0.0.1:1')).toBe(
      "option '--virtual' cannot be used with option '--url <url>': it has its own server",
    );
    expect(wrong('--processes', '2')).toContain("option '--processes <count>'");
    expect(wrong('--connect')).toContain("option '--connect'");
    expect(wrong('--no-connect', '--devices', '3')).toBeUndefined();
  });

  it('require --virtual', () => {
    expect(virtualProblem(parseOptions('--explore', '3'))).toBe(
      "option '--explore <count>' needs --virtual",
    );
    expect(virtualProblem(parseOptions('--url', 'http://127.0.0.1:1'))).toBeUndefined();
  });

  it('refuse an invalid fault', () => {
    expect(() => parseOptions('--fault', 'lost, device: 0, exchange: 1')).toThrow(
      'must be one of request-lost, response-lost, power-loss, server-restart, ack-lost, not-stored',
    );
    expect(() => parseOptions('--fault', 'response-lost, device: 0, exchange: 0')).toThrow(
      'exchange: must be a whole number from 1',
    );
    expect(() =>
      parseOptions('--fault', 'response-lost, device: 0, exchange: 1, lasting: 1s'),
    ).toThrow('must not have lasting unless it is a power-loss');
  });

  it('refuse an invalid restart', () => {
    expect(
      parseOptions('--restart', 'server, at: 40m', '--restart', 'device: 2, at: 1s').opts(),
    ).toEqual(
      expect.objectContaining({
        restart: [
          { device: undefined, atMs: 2_400_000, lastingMs: 10_000 },
          { device: 2, atMs: 1000, lastingMs: 10_000 },
        ],
      }),
    );
    const expectRefusal = (args: string, sentence: string) =>
      expect(() => parseOptions('--restart', args)).toThrow(sentence);
    expectRefusal('server', 'at: is required');
    expectRefusal('serve, at: 1s', 'must be server, or device with its index');
    expectRefusal('at: 1s', 'must name either the server or one device');
    expectRefusal('server, device: 1, at: 1s', 'must name either the server or one device');
    expectRefusal('server, at: soon', 'at: must be a duration');
    expectRefusal('server, at: 1s, lasting: 0s', 'must last longer than 0s');
  });
});

describe('the check of a plan in virtual time', () => {
  const options: VirtualOptions = { virtualStart: 0 };
  const endless = { ...plan };
  delete endless.durationMs;

  it('requires an end of the run', () => {
    expect(virtualPlanProblem(endless, options)).toContain('needs an end: --duration');
    expect(virtualPlanProblem({ ...endless, until: 'settled' }, options)).toBeUndefined();
  });

  it('refuses a plan whose devices open WebSockets', () => {
    expect(virtualPlanProblem({ ...plan, connect: true }, options)).toContain('has no WebSockets');
  });

  it('refuses faults and restarts of devices that do not exist', () => {
    const fault = [{ name: 'response-lost', device: 4, exchange: 1 } as const];
    expect(virtualPlanProblem(plan, { ...options, fault })).toContain(
      'there is no device 4; the last of 4 is device 3',
    );
    const restart = [{ device: 4, atMs: 1, lastingMs: 1 }];
    expect(virtualPlanProblem(plan, { ...options, restart })).toBe(
      "option '--restart <pairs>': there is no device 4; the last of 4 is device 3",
    );
  });

  it('refuses server restarts that are longer than the request time limit', () => {
    const lastingMs = plan.requestTimeLimitMs;
    const ofServer = [{ device: undefined, atMs: 1, lastingMs }];
    expect(virtualPlanProblem(plan, { ...options, restart: ofServer })).toBe(
      "option '--restart <pairs>': the restart must last less than --request-time-limit (30s)",
    );
    const ofDevice = [{ device: 1, atMs: 1, lastingMs }];
    expect(virtualPlanProblem(plan, { ...options, restart: ofDevice })).toBeUndefined();
    const fault = [{ name: 'server-restart', device: 1, exchange: 1, lastingMs } as const];
    expect(virtualPlanProblem(plan, { ...options, fault })).toContain("option '--fault <pairs>'");
  });

  it('requires a deployment and a duration for an exploration', () => {
    const exploring = { ...options, explore: 3 };
    expect(virtualPlanProblem(plan, exploring)).toBeUndefined();
    expect(virtualPlanProblem({ ...endless, iterations: 3 }, exploring)).toContain(
      'needs --duration',
    );
    const idle = { ...plan };
    delete idle.deploy;
    expect(virtualPlanProblem(idle, exploring)).toContain('needs --deploy');
  });
});
