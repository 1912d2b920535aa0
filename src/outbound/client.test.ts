/** Receivers are real servers on loopback; a table instead of DNS maps names to them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { inspect, promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { certificate } from '../../test/certificate.ts'
import { AddressList } from '../lib/net/address-list.ts'
import { OutgoingFailure, send, type OutgoingOptions, type OutgoingRequest } from './client.ts'
import { Connections } from './connections.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUps.splice(0).toReversed()) await clean()
})

interface Seen {
  readonly request: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** A number per connection. */
  readonly from: number
}

async function listen<S extends Server>(server: S): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanUps.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Answers with `answer`, or 200 and `ok`, and records the requests. */
async function receiver(answer: RequestListener = (_request, response) => response.end('ok')) {
  const seen: Seen[] = []
  const take: RequestListener = (request, response) => {
    const { method, url, headers, socket } = request
    void text(request).then((body) => {
      seen.push({ request: `${method} ${url}`, headers, body, from: socket.remotePort! })
      answer(request, response)
    })
  }
  const server = createServer(take)
  const port = await listen(server)
  return { seen, port, url: `http://receiver.example:${port}`, server }
}

/** A server that writes raw bytes. */
async function rawReceiver(speak: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => speak(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://receiver.example:${(server.address() as AddressInfo).port}`, sockets }
}

const NAMES: Record<string, string[]> = {
  'receiver.example': ['127.0.0.1'],
  'other.example': ['127.0.0.1'],
  'inside.example': ['127.0.0.1'],
  'cloud.example': ['169.254.169.254'],
  'mixed.example': ['93.184.215.14', '10.0.0.7'],
}
const lookup = async (host: string) => (NAMES[host] ?? []).map((address) => ({ address }))

const guard = { lookup, allowed: new AddressList(['receiver.example', 'other.example']) }
const limits = { connect: 1000, read: 300, total: 2000 }

const ask = (request: OutgoingRequest, more: Partial<OutgoingOptions> = {}) =>
  send(request, { guard, limits, ...more, ...(more.guard && { guard: { ...guard, ...more.guard } }) })

const failure = async (request: OutgoingRequest, more: Partial<OutgoingOptions> = {}) => {
  const error: unknown = await ask(request, more).catch((thrown: unknown) => thrown)
  return error instanceof OutgoingFailure ? [error.reason, error.message] : error
}

const post = { body: '{"a":"é"}', headers: { 'Content-Type': 'application/json' } }

test('a request arrives as it is, under the name it is sent to', async () => {
  const { url, seen, port } = await receiver((_request, response) => {
    response.writeHead(201, { 'X-Kind': ['a', 'b'], 'Content-Type': 'text/plain' }).end('done: é')
  })
  const answer = await ask({ ...post, url: `${url}/hook?a=b%20c#part`, headers: { ...post.headers, 'X-Own': 'é' } })
  expect(answer).toMatchObject({ status: 201, body: 'done: é', headers: { 'x-kind': 'a, b' } })
  expect(answer.duration).toBeGreaterThan(0)
  expect(seen).toMatchObject([{ request: 'POST /hook?a=b%20c', body: post.body }])
  expect(seen[0]!.headers).toEqual({
    host: `receiver.example:${port}`,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(post.body)),
    // UTF-8, which Node shows as one character per byte.
    'x-own': Buffer.from('é').toString('latin1'),
  })
})

test.each([
  ['http://inside.example', 'Requests to localhost are not allowed'],
  ['http://127.0.0.2', 'Requests to loopback addresses are not allowed'],
  ['http://cloud.example', 'Requests to the link local network are not allowed'],
  ['http://mixed.example', 'Requests to the local network are not allowed'],
  ['http://100.64.0.1', 'Requests to the shared address space are not allowed'],
  ['http://255.255.255.255', 'Requests to the limited broadcast address are not allowed'],
  ['http://2130706433', 'Requests to localhost are not allowed'],
  ['http://0177.0.0.1', 'Requests to localhost are not allowed'],
  ['http://0x7f.1', 'Requests to localhost are not allowed'],
  ['http://127.0.0.1.', 'Requests to localhost are not allowed'],
  ['http://INSIDE.example.', 'Requests to localhost are not allowed'],
  ['http://[::1]', 'Requests to localhost are not allowed'],
  ['http://[::]', 'Requests to localhost are not allowed'],
  ['http://[::ffff:127.0.0.1]', 'Requests to localhost are not allowed'],
  ['http://[::ffff:10.0.0.1]', 'Requests to the local network are not allowed'],
  ['http://[64:ff9b::169.254.169.254]', 'Requests to the link local network are not allowed'],
  ['http://[2002:7f00:1::]', 'Requests to localhost are not allowed'],
  ['http://[fd00::1]', 'Requests to the local network are not allowed'],
  ['http://8.8.8.8:25', 'The port is not one for HTTP'],
  ['ftp://8.8.8.8', 'Only http and https addresses are allowed'],
])('security 1: %s is not reached', async (url, message) => {
  expect(await failure({ url })).toEqual(['refused', message])
})

test('security 2: a redirect is checked as the first address was', async () => {
  const inside = await receiver()
  const { url } = await receiver((_request, response) => {
    response.writeHead(307, { location: `http://inside.example:${inside.port}/` }).end()
  })
  expect(await failure({ ...post, url })).toEqual(['refused', 'Requests to localhost are not allowed'])
  expect(inside.seen).toEqual([])
})

test('security 2: what a name means after the check is nobody’s concern', async () => {
  const inside = await receiver()
  const answers = [['127.0.0.1'], ['127.0.0.9']]
  const requests: string[] = []
  const turning = async (host: string) => {
    requests.push(host)
    return (answers.shift() ?? []).map((address) => ({ address }))
  }
  const outside = { lookup: turning, allowed: new AddressList(['127.0.0.1']) }
  expect(await ask({ url: `http://turning.example:${inside.port}/` }, { guard: outside })).toMatchObject({
    status: 200,
  })
  expect(requests).toEqual(['turning.example'])
  // The next request resolves the name again, and is refused.
  expect(await failure({ url: `http://turning.example:${inside.port}/` }, { guard: outside })).toEqual([
    'refused',
    'Requests to loopback addresses are not allowed',
  ])
  expect(inside.seen).toHaveLength(1)
})

test('connections are kept for the same address alone', async () => {
  await using connections = new Connections()
  const { url, seen } = await receiver()
  for (const path of ['/1', '/2', '/3']) await ask({ url: url + path }, { connections })
  expect(new Set(seen.map(({ from }) => from)).size).toBe(1)
  await ask({ url: `${url.replace('receiver', 'other')}/4` }, { connections })
  expect(new Set(seen.map(({ from }) => from)).size).toBe(2)
})

/** The server closes connections early, without announcing it in a header. */
test('a connection that the other side has just closed is made anew', async () => {
  await using connections = new Connections()
  let requests = 0
  const { url, sockets } = await rawReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1')
    socket.on('data', () => (++requests, socket.destroy()))
  })
  expect(await ask({ url }, { connections })).toMatchObject({ body: '1' })
  expect(await ask({ ...post, url }, { connections })).toMatchObject({ body: '1' })
  expect([requests, sockets.size]).toEqual([1, 2])
})

const SECRET = {
  Authorization: 'Bearer s3cret',
  'X-Gitlab-Token': 's3cret',
  'X-Custom': 's3cret',
  'webhook-signature': 'v1,s3cret',
}

test.each([
  [301, 'GET', ''],
  [302, 'GET', ''],
  [303, 'GET', ''],
  [307, 'POST', post.body],
  [308, 'POST', post.body],
])('a redirect by %i is followed by %s', async (status, method, body) => {
  const { url, seen } = await receiver(({ url }, response) => {
    if (url === '/old') response.writeHead(status, { location: '/new?a=b' })
    response.end('moved')
  })
  const secret = url.replace('http://', 'http://me:pass@')
  const answer = await ask({ ...post, url: `${secret}/old`, headers: { ...post.headers, 'X-Custom': 's3cret' } })
  expect(answer).toMatchObject({ status: 200, body: 'moved' })
  expect(seen).toMatchObject([
    { request: 'POST /old', body: post.body },
    // On the same origin all headers are kept.
    { request: `${method} /new?a=b`, body, headers: { 'x-custom': 's3cret', authorization: 'Basic bWU6cGFzcw==' } },
  ])
  expect(seen[1]!.headers['content-type']).toBe(method === 'POST' ? 'application/json' : undefined)
})

test('no secret goes to another origin, nor comes back from there', async () => {
  const { url, seen } = await receiver(({ url, headers }, response) => {
    const [, to] = /^\/to\/(\w+)/.exec(url!) ?? []
    const port = headers.host!.split(':')[1]
    if (to) response.writeHead(307, { location: `http://${to}.example:${port}/${to === 'other' ? 'to/receiver' : ''}` })
    response.end()
  })
  const secret = url.replace('http://', 'http://me:s3cret@')
  const headers = { 'X-Gitlab-Event': 'Push Hook', 'Idempotency-Key': 'k', 'User-Agent': 'GitLab/16' }
  await ask({ ...post, url: `${secret}/to/other`, headers: { ...post.headers, ...SECRET, ...headers } })
  expect(seen.map(({ request, headers }) => `${request} ${headers.host!.split('.')[0]}`)).toEqual([
    'POST /to/other receiver',
    'POST /to/receiver other',
    'POST / receiver',
  ])
  expect(JSON.stringify(seen[0]).match(/s3cret/g)).toHaveLength(4)
  for (const { headers, body } of seen.slice(1)) {
    expect(JSON.stringify(headers)).not.toMatch(/s3cret|authorization/)
    expect(headers).toMatchObject({ 'x-gitlab-event': 'Push Hook', 'idempotency-key': 'k', 'user-agent': 'GitLab/16' })
    expect(body).toBe(post.body)
  }
})

test('five redirects are followed, a sixth is not', async () => {
  const { url, seen } = await receiver((request, response) => {
    const left = Number(request.url!.slice(1))
    if (left > 0) response.writeHead(302, { location: `/${left - 1}` })
    response.end()
  })
  expect(await ask({ url: `${url}/5` })).toMatchObject({ status: 200 })
  expect(await failure({ url: `${url}/6` })).toEqual(['redirects', 'Too many redirects'])
  expect(seen).toHaveLength(12)
})

test.each([
  ['http://[', ['malformed', 'The address is invalid']],
  ['file:///etc/passwd', ['refused', 'Only http and https addresses are allowed']],
  ['javascript:alert(1)', ['refused', 'Only http and https addresses are allowed']],
])('a redirect to %s leads nowhere', async (location, expected) => {
  const { url } = await receiver((_request, response) => response.writeHead(302, { location }).end())
  expect(await failure({ url })).toEqual(expected)
})

test('an answer that sends nowhere is an answer', async () => {
  const { url } = await receiver((request, response) => response.writeHead(Number(request.url!.slice(1))).end())
  for (const status of [300, 302, 304, 404, 500])
    expect(await ask({ url: `${url}/${status}` })).toMatchObject({ status })
})

test.each([
  ['me:pass', 'me:pass'],
  ['m%C3%A9:p%3Aa%40%2F', 'mé:p:a@/'],
  ['me', 'me:'],
  [':pass', ':pass'],
  ['100%:%zz', '100%:%zz'],
])('credentials %s are a header, not a part of the address', async (given, meant) => {
  const { url, seen, port } = await receiver()
  await ask({ url: `http://${given}@receiver.example:${port}/x` })
  expect(seen).toMatchObject([
    { request: 'GET /x', headers: { authorization: `Basic ${Buffer.from(meant).toString('base64')}` } },
  ])
  expect(seen[0]!.headers.host).toBe(new URL(url).host)
})

test('nothing of a request is in what is told of its failure', async () => {
  const { url, server } = await receiver((request) => request.socket.destroy())
  const tell = async (at: string) => {
    const request = { url: at.replace('://', '://me:s3cret@') + '/s3cret?s3cret', headers: SECRET, body: 's3cret' }
    const error = await ask({ method: 'POST', ...request }).catch((thrown: Error) => thrown)
    expect(error).toBeInstanceOf(OutgoingFailure)
    return inspect(error, { depth: null, showHidden: true }).replaceAll(/^ +at .*$/gm, '')
  }
  const answers = [await tell(url), await tell(url.replace('http:', 'https:')), await tell('http://inside.example')]
  server.close()
  answers.push(await tell(url), await tell('http://missing.example'), await tell('http://8.8.8.8:25'))
  for (const text of answers) expect(text).not.toMatch(/s3cret|me:s/)
})

test.each([
  ['X-A', 'a\r\nX-B: b'],
  ['X-A', 'a\nb'],
  ['X-A', 'a\0b'],
  ['X-A\r\nX-B', 'b'],
  ['X A', 'b'],
  ['X-A:', 'b'],
  ['', 'b'],
  ['Host', 'inside.example'],
  ['content-length', '0'],
  ['Transfer-Encoding', 'chunked'],
  ['Connection', 'upgrade'],
  ['Expect', '100-continue'],
])('a header %j: %j is not sent', async (name, value) => {
  const { url, seen } = await receiver()
  expect(await failure({ url, headers: { [name]: value } })).toEqual([
    'malformed',
    'A header of the request is invalid',
  ])
  expect(seen).toEqual([])
})

test('an address brings no line into the request', async () => {
  const { url, seen } = await receiver()
  await ask({ url: `${url}/a\r\nX-B: b/%0d%0aX-C: c?d\r\nX-E: e` })
  expect(seen[0]!.request).toBe('GET /aX-B:%20b/%0d%0aX-C:%20c?dX-E:%20e')
  expect(Object.keys(seen[0]!.headers)).toEqual(['host', 'connection'])
})

const HEAD = 'HTTP/1.1 200 OK\r\n'

/** Writes as long as the other side reads. */
function pour(socket: Socket, chunk: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

const began = (socket: Socket, text: string) => {
  socket.write(text)
  return socket
}

const drip = (socket: Socket, chunk: string) => {
  const timer = setInterval(() => socket.write(chunk), 20)
  socket.on('close', () => clearInterval(timer))
}

test.each([
  ['an endless body', `${HEAD}\r\n`, 'x'.repeat(65_536)],
  ['endless chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `10000\r\n${'x'.repeat(65_536)}\r\n`],
  ['a large body', `${HEAD}Content-Length: 10000000\r\n\r\n`, 'x'.repeat(65_536)],
])('%s is cut, and no more of it is read', async (_kind, head, chunk) => {
  await using connections = new Connections()
  const { url, sockets } = await rawReceiver((socket) => {
    socket.write(head)
    pour(socket, chunk)
  })
  expect(await ask({ url }, { connections })).toMatchObject({ status: 200, body: 'x'.repeat(8192) })
  const [socket] = sockets
  await expect.poll(() => socket!.destroyed).toBe(true)
  // No more than the socket buffers of both sides.
  expect(socket!.bytesWritten).toBeLessThan(16 * 1024 * 1024)
})

test('a body of just the limit is whole; half a character at the end is left out, and NUL', async () => {
  await using connections = new Connections()
  const bodies = ['x'.repeat(8192), `${'x'.repeat(8191)}é`, 'a\0b']
  const { url, seen } = await receiver((request, response) => response.end(bodies[Number(request.url!.slice(1))]))
  const read = async (n: number) => (await ask({ url: `${url}/${n}` }, { connections })).body
  expect(await read(0)).toBe(bodies[0])
  expect(await read(1)).toBe('x'.repeat(8191))
  expect(await read(2)).toBe('a\ufffdb')
  expect(seen[0]!.from).toBe(seen[1]!.from)
  expect(seen[1]!.from).not.toBe(seen[2]!.from)
})

test('what is compressed stays so, and was not asked for', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  const { url, seen } = await receiver((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const { body, headers } = await ask({ url })
  expect(headers['content-encoding']).toBe('gzip')
  expect(body.length).toBeLessThanOrEqual(8192)
  expect(seen[0]!.headers).not.toHaveProperty('accept-encoding')
})

test('fifty headers are kept, a kilobyte of each', async () => {
  const { url } = await receiver((_request, response) => {
    for (let n = 0; n < 60; n++) response.setHeader(`x-${n}`, n === 0 ? 'v'.repeat(5000) : 'v')
    response.setHeader('__proto__', 'v').end()
  })
  const { headers } = await ask({ url })
  expect(Object.keys(headers)).toHaveLength(50)
  expect(headers['x-0']).toBe('v'.repeat(1024))
  expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
})

test.each([
  ['endless headers', (socket) => pour(began(socket, HEAD), `X: ${'x'.repeat(1000)}\r\n`)],
  ['one endless header', (socket) => pour(began(socket, `${HEAD}X: `), 'x'.repeat(1000))],
  ['no HTTP at all', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ['a status that is none', (socket) => socket.end('HTTP/1.1 abc\r\n\r\n')],
  ['two lengths', (socket) => socket.end(`${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`)],
] satisfies [string, (socket: Socket) => void][])('%s is no answer', async (_kind, speak) => {
  const { url } = await rawReceiver(speak)
  expect(await failure({ url })).toEqual(['malformed', 'The answer is not valid HTTP'])
})

test('nor is a change of protocol that nobody asked for', async () => {
  const { url } = await rawReceiver((socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  })
  expect(await failure({ url })).toEqual(['unreachable', 'The connection was closed'])
})

test.each([
  ['silence', () => {}],
  ['a head by the letter', (socket) => drip(began(socket, HEAD), 'X')],
  ['endless promises', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')],
] satisfies [string, (socket: Socket) => void][])('%s ends in time', async (_kind, speak) => {
  const { url, sockets } = await rawReceiver(speak)
  expect(await failure({ ...post, url })).toEqual(['timeout', 'The request timed out'])
  await expect.poll(() => [...sockets].every(({ destroyed }) => destroyed)).toBe(true)
})

test('a body by the letter is cut in time: its answer has come', async () => {
  const { url, sockets } = await rawReceiver((socket) => {
    socket.write(`${HEAD}Content-Length: 1000\r\n\r\n`)
    drip(socket, 'x')
  })
  const { status, body, duration } = await ask({ url })
  expect([status, duration < 1]).toEqual([200, true])
  expect(body).toMatch(/^x+$/)
  await expect.poll(() => [...sockets].every(({ destroyed }) => destroyed)).toBe(true)
})

test('the whole way has an end, however often it is sent on', async () => {
  const { url } = await receiver((_request, response) => {
    setTimeout(() => response.writeHead(302, { location: '/' }).end(), 100)
  })
  expect(await failure({ url }, { limits: { ...limits, total: 250 } })).toEqual(['timeout', 'The request timed out'])
  const never = { ...guard, lookup: () => new Promise<never>(() => {}) }
  const message = await failure({ url: 'http://slow.example' }, { guard: never, limits: { ...limits, connect: 50 } })
  expect(message).toEqual(['timeout', 'The request timed out'])
})

test('an aborted request rejects with the reason of the caller', async () => {
  const { url, sockets } = await rawReceiver(() => stop.abort(new Error('closing')))
  const stop = new AbortController()
  await expect(ask({ url }, { signal: stop.signal })).rejects.toThrow('closing')
  await expect(ask({ url }, { signal: stop.signal })).rejects.toThrow('closing')
  await expect.poll(() => [...sockets].map(({ destroyed }) => destroyed)).toEqual([true])
})

test('nobody there', async () => {
  const { url, server } = await receiver()
  server.close()
  expect(await failure({ url })).toEqual(['unreachable', 'The connection was refused'])
  expect(await failure({ url: 'http://missing.example' })).toEqual(['unreachable', 'The host cannot be resolved'])
})

async function secureReceiver() {
  const server = createSecureServer(certificate, (_request, response) => response.end('secure'))
  return listen(server)
}

test('a certificate must be trusted and be for the host, unless verification is off', async () => {
  const port = await secureReceiver()
  const url = `https://receiver.example:${port}`
  expect(await failure({ url })).toEqual(['tls', 'TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)'])
  expect(await ask({ url, verifyTls: false })).toMatchObject({ body: 'secure' })
  // A connection without certificate check is not reused for a request with one.
  await using connections = new Connections()
  await ask({ url, verifyTls: false }, { connections })
  expect(await failure({ url }, { connections })).toMatchObject(['tls', expect.anything()])
  const plain = await receiver()
  expect(await failure({ url: plain.url.replace('http:', 'https:') })).toMatchObject(['tls', expect.anything()])
})

test('one that is trusted is for its host alone, whatever the address', async () => {
  const before = getCACertificates('default')
  setDefaultCACertificates([certificate.cert])
  cleanUps.push(() => setDefaultCACertificates(before))
  const port = await secureReceiver()
  const at = (host: string) => ({ url: `https://${host}:${port}` })
  for (const host of ['receiver.example', 'Receiver.example.'])
    expect(await ask(at(host))).toMatchObject({ status: 200 })
  const { proxy } = await proxyServer()
  expect(await ask(at('receiver.example'), { proxy })).toMatchObject({ status: 200 })
  const wrong = ['tls', 'TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)']
  expect(await failure(at('other.example'))).toEqual(wrong)
  expect(await failure(at('third.example'), { proxy })).toEqual(wrong)
  expect(await failure(at('127.0.0.1'), { guard: { allowLocal: true } })).toEqual(wrong)
})

test('without the protection a name is connected to as it is; it is checked all the same', async () => {
  const { port, seen } = await receiver()
  const off = { pinned: false, lookup: async () => [{ address: '127.0.0.9' }], allowed: new AddressList(['127.0.0.9']) }
  // The check gets 127.0.0.9, where no server listens, but the system resolves the real address.
  expect(await ask({ url: `http://localhost:${port}/` }, { guard: off })).toMatchObject({ status: 200 })
  expect(seen).toHaveLength(1)
  expect(await failure({ url: `http://localhost:${port}/` }, { guard: { ...off, pinned: true } })).toEqual([
    'unreachable',
    'The connection was refused',
  ])
  expect(await failure({ url: 'http://inside.example' }, { guard: { pinned: false } })).toEqual([
    'refused',
    'Requests to localhost are not allowed',
  ])
})

/** A proxy that connects to this machine, whatever the name. */
async function proxyServer(allowed = true) {
  const requests: { line: string; credentials: string | undefined; authorization: string | undefined }[] = []
  const note = ({ method, url, headers }: IncomingMessage) =>
    requests.push({
      line: `${method} ${url}`,
      credentials: headers['proxy-authorization'],
      authorization: headers.authorization,
    })
  const server = createServer((request, response) => {
    note(request)
    response.end(`forwarded for ${request.headers.host}`)
  })
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(request)
    if (!allowed) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [, port] = request.url!.split(':')
    const beyond = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      beyond.pipe(socket).pipe(beyond)
    })
    for (const side of [beyond, socket]) side.on('error', () => (beyond.destroy(), socket.destroy()))
  })
  const port = await listen(server)
  return {
    asked: requests,
    proxy: { url: `http://me:s3cret@127.0.0.1:${port}`, except: new AddressList(['other.example']) },
  }
}

test('through a proxy, which looks names up', async () => {
  const { asked, proxy } = await proxyServer()
  const credentials = `Basic ${Buffer.from('me:s3cret').toString('base64')}`
  const nobody = { lookup: async () => expect.unreachable('nothing is looked up here') }
  const far = { url: 'http://u:p@far.example:8000/hook?a', ...post }
  expect(await ask(far, { proxy, guard: nobody })).toMatchObject({ body: 'forwarded for far.example:8000' })
  expect(asked.splice(0)).toEqual([
    { line: 'POST http://far.example:8000/hook?a', credentials, authorization: 'Basic dTpw' },
  ])
  const port = await secureReceiver()
  const secure = { url: `https://u:p@receiver.example:${port}/x`, verifyTls: false }
  await using connections = new Connections()
  for (const _ of [1, 2])
    expect(await ask(secure, { proxy, guard: nobody, connections })).toMatchObject({ body: 'secure' })
  // One CONNECT only, because the tunnel is kept. The proxy does not see its content.
  expect(asked.splice(0)).toEqual([{ line: `CONNECT receiver.example:${port}`, credentials, authorization: undefined }])
  expect(await failure({ ...secure, verifyTls: true }, { proxy })).toMatchObject(['tls', expect.anything()])
})

test('what a proxy is not for, and what it is not asked for', async () => {
  const { asked, proxy } = await proxyServer()
  const { url, seen } = await receiver()
  await ask({ url: url.replace('receiver', 'other') }, { proxy })
  expect([seen.length, asked]).toEqual([1, []])
  const inside = [
    'http://127.0.0.1',
    'http://localhost',
    'https://api.localhost',
    `http://${hostname()}`,
    'http://0x7f.1',
  ]
  for (const at of inside)
    expect(await failure({ url: at }, { proxy }), at).toMatchObject(['refused', expect.stringContaining('localhost')])
  const listed = { onlyAllowed: true }
  expect(await failure({ url: 'http://far.example' }, { proxy, guard: listed })).toEqual([
    'refused',
    'Requests to hosts and IP addresses not on the allow list are denied',
  ])
  expect(asked).toEqual([])
  expect(await ask({ url }, { proxy, guard: listed })).toMatchObject({ status: 200 })
})

test('a proxy that breaks off in the middle', async () => {
  const server = createServer()
  server.on('connect', (_request, socket: Socket) => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.once('data', () => socket.resetAndDestroy())
  })
  const proxy = { url: `http://127.0.0.1:${await listen(server)}` }
  expect(await failure({ url: 'https://far.example' }, { proxy })).toEqual(['unreachable', 'The connection was closed'])
})

test('a proxy that does not let us through, or is not there', async () => {
  const { proxy } = await proxyServer(false)
  expect(await failure({ url: 'https://far.example' }, { proxy })).toEqual(['unreachable', 'The proxy answered 407'])
  const gone = { url: 'http://me:s3cret@127.0.0.1:1' }
  for (const url of ['http://far.example', 'https://far.example'])
    expect(await failure({ url }, { proxy: gone })).toEqual(['unreachable', 'The connection was refused'])
})

test('few idle connections are kept, and those no longer than the client', async () => {
  const { port, server } = await receiver()
  const open = async () => await promisify(server.getConnections.bind(server))()
  const near = { lookup: async () => [{ address: '127.0.0.1' }], allowLocal: true }
  {
    await using connections = new Connections()
    const patient = { ...limits, connect: 10_000, read: 10_000, total: 10_000 }
    const hosts = Array.from({ length: 140 }, (_, n) => `http://r${n}.example:${port}`)
    await Promise.all(hosts.map((url) => ask({ url }, { connections, guard: near, limits: patient })))
    await expect.poll(() => open()).toBe(128)
  }
  await expect.poll(() => open()).toBe(0)
})

test('a dot after the name changes nothing', async () => {
  const { port, seen } = await receiver()
  await ask({ url: `http://Receiver.Example.:${port}/` })
  expect(seen[0]!.headers.host).toBe(`receiver.example:${port}`)
})

test('the method is that of the request, else the one that its body needs', async () => {
  const { url, seen } = await receiver()
  for (const method of ['PUT', 'DELETE', undefined] as const) await ask({ url, body: 'x', ...(method && { method }) })
  await ask({ url })
  expect(seen.map(({ request, body }) => request + body)).toEqual(['PUT /x', 'DELETE /x', 'POST /x', 'GET /'])
})
