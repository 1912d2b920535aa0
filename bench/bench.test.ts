import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../src/config.ts'
import { QUICK, alternately, openBench } from './bench.ts'
import { mixed } from './calls.ts'
import { closedLoop, openLoop, quantile } from './load.ts'
import { largeArchive, longLog } from './job-files.ts'
import { growingPipelines } from './pipeline-lists.ts'
import { drainTime, openQueueBench, pickUpTime } from './queue.ts'
import { measurements } from './rows.ts'
import { MEMBER } from './seed.ts'
import { RARE } from './seed-values.ts'
import { capture } from './servers.ts'
import { table } from './table.ts'

async function listen(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.dispose]: () => void server.close().closeAllConnections() }
}

test('a row is measured on a seeded server that answers every mixed request', async () => {
  const effort = { ...QUICK, rounds: 1, seconds: 0.05, warmUpSeconds: 0.05, requests: 60 }
  await using bench = openBench({ effort, postgres: testDatabaseUrl() })

  const [row] = await measurements.record(bench)
  const { port } = await bench.few()
  const found = await capture(port, { path: `/api/v4/users?search=${RARE}`, token: MEMBER })

  expect(row).toMatchObject({ what: 'GET /projects/:id, rotating, beside commits', ratio: expect.any(Number) })
  expect(row!.ratio).toBeGreaterThan(0)
  expect(JSON.parse(found.body)).toHaveLength(10)
  expect(await closedLoop(port, mixed, { connections: 2, count: 20 })).toBe(20)
}, 60_000)

test('jobs are queued, run and listed on seeded servers', { timeout: 120_000 }, async () => {
  const effort = { ...QUICK, rounds: 1, warmUpSeconds: 0.05, jobs: 20, pipelines: 40, artifact: 20 }
  await using bench = openBench({ effort, postgres: testDatabaseUrl() })

  await using queue = await openQueueBench(bench)
  const found = [
    await pickUpTime(queue),
    await drainTime(queue),
    await longLog(queue, 2),
    await largeArchive(queue, effort.artifact),
  ]
  const { port } = await bench.piped.few()
  const pages = await Promise.all(growingPipelines.map(([, call]) => capture(port, call)))

  expect(found.map(({ ours }) => ours)).toEqual([
    expect.stringMatching(/^[\d.]+ ms$/),
    expect.stringMatching(/^([\d.]+ ms(, |$)){4}/),
    expect.stringMatching(/^\d+ MB$/),
    expect.stringMatching(/^\d+ MB$/),
  ])
  expect(JSON.parse(pages[0]!.body)).toHaveLength(20)
})

test('an instance is generated, backed up and restored', { timeout: 240_000 }, async () => {
  const effort = { ...QUICK, rounds: 1, backup: 10 }
  await using bench = openBench({ effort, postgres: testDatabaseUrl() })
  const rows = await measurements.backup(bench)
  expect(rows.map(({ what, ours, ratio }) => [what.split(' of ')[0], ours, ratio])).toEqual(
    ['first backup', 'backup after one commit', 'restore'].map((what) => [
      what,
      expect.stringMatching(/^[\d.]+ ms$/),
      expect.any(Number),
    ]),
  )
})

test('a closed loop reads answers that come in pieces, and stops at a refusal', async () => {
  const asked: string[] = []
  using server = await listen((request, response) => {
    asked.push(request.url!)
    if (request.url === '/missing') return void response.writeHead(404, { 'Content-Length': 0 }).end()
    response.writeHead(200, { 'Content-Length': 6 }).write('one')
    setTimeout(() => response.end('two'), 5)
  })
  const once = { connections: 1, count: 3 }

  expect(await closedLoop(server.port, [{ path: '/a' }, { path: '/b' }], once)).toBe(3)
  expect(asked).toEqual(['/a', '/b', '/a'])
  asked.length = 0
  const act = async () => void asked.push('between')
  await closedLoop(server.port, [{ path: '/a' }, { path: '/b' }], { ...once, from: 1, between: { requests: 2, act } })
  expect(asked).toEqual(['/b', 'between', '/a', '/b', 'between'])
  await expect(closedLoop(server.port, [{ path: '/missing' }], once)).rejects.toThrow('/missing answered 404')
})

test('an open loop counts errors, and charges a stall to everybody who was due', async () => {
  let answered = 0
  using server = await listen((_request, response) => {
    const status = ++answered % 2 === 0 ? 500 : 200
    setTimeout(() => response.writeHead(status, { 'Content-Length': 0 }).end(), 50)
  })

  const { sent, errors, p99 } = await openLoop(server.port, [{ path: '/' }], {
    connections: 1,
    rate: 100,
    seconds: 0.1,
  })

  expect({ sent, errors }).toEqual({ sent: 10, errors: 5 })
  // Ten answers of 50 ms on one connection: the last was due after 90 ms and came after 500 ms.
  expect(p99).toBeGreaterThan(400)
})

test('two sides take turns and the ratio is of each round', async () => {
  const order: string[] = []
  const side = (name: string, times: number[]) => async () => (order.push(name), times.shift()!)

  expect(await alternately(3, side('ours', [2, 30, 4]), side('floor', [1, 10, 4]))).toEqual({
    ours: 4,
    floor: 4,
    ratio: 2,
  })
  expect(order).toEqual(['ours', 'floor', 'floor', 'ours', 'ours', 'floor'])
})

test('quantiles are taken of sorted values', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile([7], 0.99)]).toEqual([51, 100, 7])
})

test('the table aligns its columns', () => {
  const rows = [
    { what: 'a list', ours: '10/s', floor: '20/s', ratio: 0.5, target: '≥ 0.5', met: true },
    { what: 'memory', ours: '9 MB', floor: '', ratio: null, target: '< 8 MB', met: false },
  ]
  expect(table(rows)).toBe(
    [
      'what    ours  floor  ratio  target  met',
      '------  ----  -----  -----  ------  ---',
      'a list  10/s   20/s   0.50   ≥ 0.5  yes',
      'memory  9 MB                < 8 MB   no',
    ].join('\n'),
  )
})
