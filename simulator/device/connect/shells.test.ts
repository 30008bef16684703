import { describe, expect, it } from 'vitest';
import { ConnectFixture, errorTextOf, textOf, typesOf } from '../../testing/connect-fixture.ts';

const prompt = 'root@fb-1:~# ';
const size = { terminal_height: 24, terminal_width: 100 };

function started(props: Record<string, unknown> = {}) {
  const fixture = new ConnectFixture();
  const responses = fixture.say('shell', 'new', { props: { ...size, user_id: 'u-1', ...props } });
  const type = (text: string, sid = 's-1') =>
    fixture.say('shell', 'shell', { sid, body: Buffer.from(text) });
  return { fixture, responses, type };
}

describe('a shell', () => {
  it('starts with a message of its type, followed by the prompt', () => {
    const { responses } = started();
    expect(responses).toEqual([
      {
        proto: 1,
        typ: 'new',
        sid: 's-1',
        props: { status: 1 },
        body: Buffer.from('Shell started'),
      },
      { proto: 1, typ: 'shell', sid: 's-1', props: { status: 1 }, body: Buffer.from(prompt) },
    ]);
  });

  it('shows typed text and the output of the command', () => {
    const { type } = started();
    const responses = type('echo hi\r');
    expect(typesOf(responses)).toEqual(['shell']);
    expect(textOf(responses)).toBe(`echo hi\r\nhi\r\n${prompt}`);
  });

  it('ignores a message without a body', () => {
    const { fixture } = started();
    expect(fixture.say('shell', 'shell')).toEqual([]);
  });

  it('sends long output in several messages, in order', () => {
    const { type } = started();
    type(`echo -n ${'x'.repeat(4000)} > a\r`);
    type('cat a a a > b\r');
    const responses = type('cat b\r');
    expect(responses.map(({ body }) => body?.length)).toEqual([
      4096,
      4096,
      3808 + 7 + prompt.length,
    ]);
    expect(textOf(responses)).toBe(`cat b\r\n${'x'.repeat(12_000)}${prompt}`);
  });

  it.each([
    ['what was asked for', size, '24 100'],
    ['the default when nothing was', { terminal_height: undefined }, '40 80'],
    ['the default when it can be none', { terminal_height: 0 }, '40 80'],
    ['the default when it is not a number', { terminal_width: 'wide' }, '40 80'],
    ['the default when it is beyond a screen', { terminal_width: 70_000 }, '40 80'],
  ])('has a screen of %s', (_what, props, shown) => {
    expect(textOf(started(props).type('echo $LINES $COLUMNS\r'))).toContain(`\r\n${shown}\r\n`);
  });

  it('adapts to a new size of its screen', () => {
    const { fixture, type } = started();
    const props = { terminal_height: 10, terminal_width: 20 };
    expect(fixture.say('shell', 'resize', { props })).toEqual([]);
    expect(textOf(type('echo $LINES $COLUMNS\r'))).toContain('\r\n10 20\r\n');
    expect(errorTextOf(fixture.say('shell', 'resize', { props: { terminal_height: 10 } }))).toBe(
      'terminal_height or terminal_width is missing or invalid',
    );
  });

  it('answers a ping with a pong', () => {
    expect(started().fixture.say('shell', 'ping')).toEqual([
      { proto: 1, typ: 'pong', sid: 's-1', props: { status: 3 } },
    ]);
  });

  it('notifies its user when it ends by itself', () => {
    const { fixture, type } = started();
    const responses = type('exit\r');
    expect(typesOf(responses)).toEqual(['shell', 'stop']);
    expect(responses[1]).toMatchObject({ sid: 's-1', props: { status: 1, user_id: 'u-1' } });
    expect(errorTextOf(type('pwd\r'))).toBe('session not found');
    expect(fixture.pass(700)).toEqual([]);
  });

  it('ends at the request of its user', () => {
    const { fixture, type } = started();
    const stop = { props: { status: 2 }, body: Buffer.from('user disconnected') };
    expect(fixture.say('shell', 'stop', stop)).toMatchObject([
      { typ: 'stop', props: { status: 1 } },
    ]);
    expect(errorTextOf(type('pwd\r'))).toBe('session not found');
    expect(errorTextOf(fixture.say('shell', 'stop'))).toBe('session not found');
  });

  it('ends with all shells of its user when the message names no session', () => {
    const { fixture, type } = started();
    fixture.say('shell', 'new', { sid: 's-2', props: { user_id: 'u-2' } });
    const stop = { proto: 1, typ: 'stop', props: { user_id: 'u-1' } };
    expect(fixture.device.respond(stop)).toMatchObject([{ typ: 'stop', sid: 's-1' }]);
    expect(errorTextOf(fixture.device.respond(stop))).toBe('session not found');
    expect(textOf(type('pwd\r', 's-2'))).toContain('/root');
  });

  it.each(['shell', 'resize', 'ping', 'pong', 'stop'])('must be open before %s', (typ) => {
    const responses = new ConnectFixture().say('shell', typ);
    expect(errorTextOf(responses)).toBe('session not found');
    expect(responses[0]).toMatchObject({ proto: 1, typ, sid: 's-1' });
  });

  it.each([
    ['spawn', "unknown message type 'spawn'"],
    ['', "unknown message type ''"],
  ])('refuses messages of the unknown type %j', (typ, message) => {
    expect(errorTextOf(started().fixture.say('shell', typ))).toBe(message);
  });
});

describe('the shells of a device', () => {
  it('are limited to one for each session', () => {
    const { fixture, type } = started();
    const replies = fixture.say('shell', 'new', { props: { user_id: 'u-2' } });
    expect(errorTextOf(replies)).toBe('failed to start shell: shell is already running');
    expect(replies[0]).toMatchObject({ typ: 'new', sid: 's-1' });
    expect(textOf(type('pwd\r'))).toContain('/root');
  });

  it('are limited to one for each user', () => {
    const { fixture } = started();
    const second = { sid: 's-2', props: { user_id: 'u-1' } };
    expect(errorTextOf(fixture.say('shell', 'new', second))).toBe(
      'user has too many open sessions',
    );
    fixture.say('shell', 'stop');
    expect(typesOf(fixture.say('shell', 'new', second))).toEqual(['new', 'shell']);
  });

  it('are limited to sixteen', () => {
    const fixture = new ConnectFixture();
    const spawn = (index: number) =>
      fixture.say('shell', 'new', { sid: `s-${index}`, props: { user_id: `u-${index}` } });
    for (let index = 1; index <= 16; index++) expect(spawn(index)).toHaveLength(2);
    expect(errorTextOf(spawn(17))).toBe('too many shells spawned');
    fixture.say('shell', 'stop', { sid: 's-5' });
    expect(typesOf(spawn(17))).toEqual(['new', 'shell']);
  });

  it('share the files of the device and nothing else', () => {
    const { fixture, type } = started();
    fixture.say('shell', 'new', { sid: 's-2', props: { user_id: 'u-2' } });
    type('cd /tmp\recho shared > a\r');
    expect(textOf(type('pwd\rcat /tmp/a\r', 's-2'))).toContain('/root\r\n');
    expect(textOf(type('cat /tmp/a\r', 's-2'))).toContain('\r\nshared\r\n');
  });
});

describe('an idle shell of a device', () => {
  it('pings its user once a minute and continues after a pong', () => {
    const { fixture } = started();
    expect(fixture.pass(59)).toEqual([]);
    expect(fixture.pass(1)).toEqual([
      { proto: 1, typ: 'ping', sid: 's-1', props: { status: 3, timeout: 65 } },
    ]);
    fixture.say('shell', 'pong');
    expect(fixture.pass(59)).toEqual([]);
    expect(typesOf(fixture.pass(1))).toEqual(['ping']);
  });

  it('ends when no pong arrives in time', () => {
    const { fixture, type } = started();
    const ends = fixture.pass(66);
    expect(typesOf(ends)).toEqual(['ping', 'stop']);
    expect(errorTextOf(ends.slice(1))).toBe('health check failed: no pong came in time');
    expect(errorTextOf(type('pwd\r'))).toBe('session not found');
  });

  it('ends after ten minutes without a key, even if its user answers pings', () => {
    const { fixture, type } = started();
    type('pwd\r');
    const ends = [];
    for (let minute = 0; minute < 11; minute++) {
      ends.push(...fixture.pass(60).filter(({ typ }) => typ === 'stop'));
      fixture.say('shell', 'pong');
    }
    expect(errorTextOf(ends)).toBe('session expired');
  });

  it('stays open while keys are typed', () => {
    const { fixture, type } = started();
    for (let minute = 0; minute < 20; minute++) {
      expect(typesOf(fixture.pass(60))).toEqual(['ping']);
      fixture.say('shell', 'pong');
      type('\r');
    }
    expect(textOf(type('pwd\r'))).toContain('/root');
  });
});
