import { describe, expect, it } from 'vitest';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import type { ConnectMessage } from '../../../fixtures/formats/connect-message.ts';
import { ConnectFixture, errorTextOf, textOf, typesOf } from '../../testing/connect-fixture.ts';

class Ports extends ConnectFixture {
  open(remote: Record<string, unknown> = {}, id: unknown = 'c-1'): readonly ConnectMessage[] {
    const wanted = { remote_host: 'localhost', remote_port: 7, protocol: 'tcp', ...remote };
    return this.send('new', encodeBody(wanted), id);
  }

  send(typ: string, body?: Buffer, id: unknown = 'c-1'): readonly ConnectMessage[] {
    const props = { connection_id: id };
    return this.say('portForward', typ, body === undefined ? { props } : { props, body });
  }
}

describe('a port forwarding connection', () => {
  it.each([
    ['localhost', 7, 'tcp'],
    ['127.0.0.1', 7, 'udp'],
    ['::1', 80, 'tcp'],
    ['fb-1', 80, 'tcp'],
  ])('opens to %s, port %i by %s', (remote_host, remote_port, protocol) => {
    expect(new Ports().open({ remote_host, remote_port, protocol })).toEqual([
      { proto: 3, typ: 'new', sid: 's-1', props: { connection_id: 'c-1' } },
    ]);
  });

  it.each([
    [{ remote_port: 22 }, 'dial tcp localhost:22: connection refused'],
    [{ remote_port: 80, protocol: 'udp' }, 'dial udp localhost:80: connection refused'],
    [{ remote_port: 0 }, 'dial tcp localhost:0: connection refused'],
    [{ remote_host: '192.0.2.1' }, 'dial tcp 192.0.2.1:7: no route to host'],
    [{ remote_host: 'example.com' }, 'dial tcp example.com:7: no route to host'],
    [{ remote_host: '' }, 'no route to host'],
    [{ remote_port: 65_536 }, 'invalid port-forward message: body.remote_port'],
    [{ remote_port: '7' }, 'invalid port-forward message: body.remote_port'],
    [{ protocol: 'sctp' }, 'invalid port-forward message: body.protocol'],
    [{ protocol: undefined }, 'invalid port-forward message: body.protocol'],
  ])('is refused for %j', (remote, message) => {
    const ports = new Ports();
    const responses = ports.open(remote);
    expect(errorTextOf(responses)).toContain(message);
    expect(responses[0]).toMatchObject({ proto: 3, props: { connection_id: 'c-1' } });
    expect(errorTextOf(ports.send('forward', Buffer.from('x')))).toBe('unknown connection');
  });

  it.each([
    ['no ID', null],
    ['an endless ID', 'x'.repeat(257)],
    ['an empty ID', ''],
    ['a number for an ID', 7],
  ])('is refused for %s', (_what, id) => {
    const responses = new Ports().open({}, id);
    expect(errorTextOf(responses)).toBe('invalid port-forward message: connection_id is missing');
    expect(responses[0]?.props).toBeUndefined();
  });

  it('is refused without a body, when already open, or beyond thirty-two', () => {
    const ports = new Ports();
    expect(errorTextOf(ports.send('new'))).toContain('the body is missing');
    ports.open();
    expect(errorTextOf(ports.open())).toBe("connection 'c-1' is already open");
    for (let index = 2; index <= 32; index++) ports.open({}, `c-${index}`);
    expect(errorTextOf(ports.open({}, 'c-33'))).toBe('too many connections');
  });

  it('acknowledges data, and has one unacknowledged response at a time', () => {
    const ports = new Ports();
    ports.open();
    const first = ports.send('forward', Buffer.from('one'));
    expect(typesOf(first)).toEqual(['ack', 'forward']);
    expect(textOf(first)).toBe('one');
    expect(typesOf(ports.send('forward', Buffer.from('two')))).toEqual(['ack']);
    const second = ports.send('ack');
    expect(typesOf(second)).toEqual(['forward']);
    expect(textOf(second)).toBe('two');
    expect(ports.send('ack')).toEqual([]);
    expect(ports.send('ack')).toEqual([]);
  });

  it('sends much data in pieces of 4096 bytes', () => {
    const ports = new Ports();
    ports.open();
    const [, first] = ports.send('forward', Buffer.alloc(5000, 'x'));
    expect(first?.body).toHaveLength(4096);
    expect(ports.send('ack')[0]?.body).toHaveLength(904);
  });

  it('acknowledges a message without data', () => {
    const ports = new Ports();
    ports.open();
    expect(typesOf(ports.send('forward'))).toEqual(['ack']);
  });

  it('is stopped when its user acknowledges none of the requested data', () => {
    const ports = new Ports();
    ports.open();
    let responses: readonly ConnectMessage[] = [];
    for (let count = 0; count < 100 && !typesOf(responses).includes('stop'); count++) {
      responses = ports.send('forward', Buffer.alloc(4096));
    }
    expect(typesOf(responses)).toEqual(['error', 'stop']);
    expect(errorTextOf(responses.slice(0, 1))).toBe('too much data waits for an ack');
    expect(errorTextOf(ports.send('ack'))).toBe('unknown connection');
  });

  it('stops at the request of its user', () => {
    const ports = new Ports();
    ports.open();
    expect(typesOf(ports.send('stop'))).toEqual(['stop']);
    expect(errorTextOf(ports.send('stop'))).toBe('unknown connection');
  });

  it('is independent of another connection', () => {
    const ports = new Ports();
    ports.open({}, 'c-1');
    ports.open({}, 'c-2');
    ports.send('forward', Buffer.from('one'), 'c-1');
    const responses = ports.send('forward', Buffer.from('two'), 'c-2');
    expect(responses.map(({ props }) => props?.connection_id)).toEqual(['c-2', 'c-2']);
    ports.send('stop', undefined, 'c-1');
    expect(typesOf(ports.send('ack', undefined, 'c-2'))).toEqual([]);
  });

  it.each(['forward', 'ack', 'stop'])('must be open before %s', (typ) => {
    expect(errorTextOf(new Ports().send(typ))).toBe('unknown connection');
  });

  it('ignores an error from its user, and refuses unknown messages', () => {
    const ports = new Ports();
    expect(ports.send('error', encodeBody({ err: 'no' }))).toEqual([]);
    expect(errorTextOf(ports.send('listen'))).toBe('unknown message type');
  });
});

describe('the web page of a device', () => {
  const ask = (...chunks: readonly string[]) => {
    const ports = new Ports();
    ports.open({ remote_port: 80 });
    const responses = chunks.flatMap((chunk) => ports.send('forward', Buffer.from(chunk)));
    return { ports, responses, text: textOf(responses) };
  };

  it('names the device, and closes the connection after the response', () => {
    const { ports, text } = ask('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(text).toBe(
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n' +
        'Connection: close\r\n\r\nfb-1\n',
    );
    expect(typesOf(ports.send('ack'))).toEqual(['stop']);
    expect(errorTextOf(ports.send('forward', Buffer.from('GET')))).toBe('unknown connection');
  });

  it('waits for the whole of a request', () => {
    const { responses, text } = ask('GET / HT', 'TP/1.1\r\nHost: x\r\n', '\r\n');
    expect(typesOf(responses)).toEqual(['ack', 'ack', 'ack', 'forward']);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answers HEAD with a head and no page', () => {
    const { text } = ask('HEAD / HTTP/1.0\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Content-Length: 5\r\n.*\r\n\r\n$/s);
  });

  it.each([
    ['GET /etc/passwd HTTP/1.1\r\n\r\n', '404 Not Found'],
    ['POST / HTTP/1.1\r\n\r\n', '405 Method Not Allowed'],
    ['hello\r\n\r\n', '400 Bad Request'],
    ['GET / HTTP/2.0\r\n\r\n', '400 Bad Request'],
    ['x'.repeat(8193), '431 Too Large'],
  ])('answers %j with %s', (request, status) => {
    expect(ask(request).text).toContain(`HTTP/1.1 ${status}\r\n`);
  });

  it('sends nothing more once it has answered', () => {
    const { responses } = ask('GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n');
    expect(typesOf(responses)).toEqual(['ack', 'forward', 'ack']);
  });
});
