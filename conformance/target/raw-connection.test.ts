import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { RawConnection } from './raw-connection.ts';
import { parsedResponse } from './raw-response.ts';

function taken(text: string, hasEnded = false) {
  const found = parsedResponse(Buffer.from(text), hasEnded);
  return found && [found.response.status, found.response.text, found.followingBytes.toString()];
}

describe('the parser of raw responses', () => {
  it.each([
    ['HTTP/1.1 204 No Content\r\n\r\nHTTP', [204, '', 'HTTP']],
    ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd', [200, 'abc', 'd']],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\nd',
      [200, 'abc', 'd'],
    ],
    ['HTTP/1.1 100 Continue\r\n\r\n', [100, '', '']],
  ])('returns the first complete response in %j', (text, expected) => {
    expect(taken(text)).toEqual(expected);
  });

  it.each([
    '',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
  ])('returns nothing while the response is incomplete in %j', (text) => {
    expect(taken(text, true)).toBeUndefined();
  });

  it('returns a body without a length once the connection has ended', () => {
    const text = 'HTTP/1.0 200 OK\r\n\r\nabc';
    expect(taken(text)).toBeUndefined();
    expect(taken(text, true)).toEqual([200, 'abc', '']);
  });

  it.each(['220 mail.example ESMTP\r\n', 'HTTP/1.1 OK\r\n\r\n'])(
    'throws an error for %j, which is not HTTP',
    (text) => {
      expect(() => taken(text)).toThrow('the response is not HTTP');
    },
  );
});

/** Opens a port that handles connections with `talk`, and returns a connection to it. */
async function connectionTo(talk: (socket: Socket) => void): Promise<RawConnection> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = new RawConnection(`http://127.0.0.1:${port}`, { clock: systemClock });
  onTestFinished(() => {
    connection.close();
    server.close();
  });
  return connection;
}

const put = { method: 'PUT', url: 'http://server.example/a?b=1', headers: { x: '1' }, body: '{}' };

describe('a raw connection', () => {
  it('sends the request line and headers unchanged', async () => {
    let seen = '';
    const connection = await connectionTo((socket) => {
      socket.on('data', (bytes) => {
        seen += bytes;
        socket.end('HTTP/1.0 204 No Content\r\n\r\n');
      });
    });
    const response = await connection.send(put, { version: '1.0' });
    expect(response).toMatchObject({ status: 204, head: { version: '1.0' }, interim: [] });
    const head = 'PUT /a?b=1 HTTP/1.0\r\nhost: server.example\r\nx: 1\r\ncontent-length: 2\r\n';
    expect(seen).toBe(`${head}\r\n{}`);
  });

  it('sends the body after 100 Continue', async () => {
    let seen = '';
    const connection = await connectionTo((socket) => {
      socket.on('data', (bytes) => {
        seen += bytes;
        if (seen.endsWith('{}')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
        else socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      });
    });
    const response = await connection.send(put, { bodyAfterMs: 10_000 });
    expect(response).toMatchObject({ status: 204, interim: [100] });
  });

  it('sends the body after a delay when 100 Continue does not come', async () => {
    let seen = '';
    const connection = await connectionTo((socket) => {
      socket.on('data', (bytes) => {
        seen += bytes;
        if (seen.endsWith('{}')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    const response = await connection.send(put, { bodyAfterMs: 1 });
    expect(response).toMatchObject({ status: 204, interim: [] });
  });

  it('assigns responses in order, and rejects the requests without a response', async () => {
    const connection = await connectionTo((socket) => {
      socket.once('data', () => {
        const responses = [1, 2].map(
          (number) => `HTTP/1.1 20${number} X\r\nContent-Length: 0\r\n\r\n`,
        );
        socket.end(responses.join(''));
      });
    });
    const sent = await Promise.allSettled([1, 2, 3].map(() => connection.send(put)));
    expect(sent).toMatchObject([
      { value: { status: 201 } },
      { value: { status: 202 } },
      { reason: { code: 'connection-closed' } },
    ]);
    await expect(connection.send(put)).rejects.toMatchObject({ code: 'connection-closed' });
  });
});
