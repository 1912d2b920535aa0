/** Read-only mode, by the table of all endpoints: no write passes, every read does, and nothing changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isWrite } from '../src/api/read-only.ts'
import { startForge } from '../src/forge.ts'
import { readRefs } from '../src/git/refs/ref-files.ts'
import { addressOf, call, inputOf, setStage, type Stage } from './cases.ts'
import { cases, families, nameOf, v4 } from './endpoints.ts'
import { startReadOnly, type ReadOnlyServer } from './read-only.ts'
import { everything, watchTables } from './watch.ts'

const REFUSED = { status: 403, body: { message: '403 Forbidden - the instance is read-only' } }

test('only endpoints that compute or sign in are no GET and still served', () => {
  const served = v4.filter((endpoint) => endpoint.method !== 'GET' && !isWrite(endpoint)).map(nameOf)
  expect(served.toSorted()).toEqual(['POST /ci/lint', 'POST /markdown', 'POST /projects/:id/ci/lint', 'POST /session'])
})

/** All refs of the stage's project. */
const refsOf = ({ repository }: Stage) => readRefs(repository)

describe('every endpoint', () => {
  let stage: Stage
  let server: ReadOnlyServer
  let written: () => Promise<string[]>
  beforeAll(async () => {
    const forge = await startForge()
    await forge.stopWorker()
    stage = await setStage(forge, 'private')
    written = await watchTables(forge)
    server = await startReadOnly(forge)
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await stage.forge[Symbol.asyncDispose]()
  })

  test('that writes is refused to every caller, whatever the parameters, and no row changes', async () => {
    const { forge } = stage
    const before = await everything(forge)
    const callers = [server.visitor, server.as(forge.administrator), server.as({ headers: { 'PRIVATE-TOKEN': 'x' } })]
    const passed: string[] = []
    for (const endpoint of v4.filter(isWrite)) {
      const plain = endpoint.path.replace(/\([^)]+\)/g, '')
      const path = plain.replace(/:id\b/, String(stage.project.id)).replace(/:\w+|\*/g, '1')
      for (const caller of callers) {
        const { status, body } = await caller.request(endpoint.method, path, { title: 'x', name: 'x' })
        if (JSON.stringify({ status, body }) !== JSON.stringify(REFUSED)) passed.push(`${nameOf(endpoint)}: ${status}`)
      }
    }
    expect(passed).toEqual([])
    expect(await everything(forge)).toEqual(before)
  })

  const reads = families.map(({ name, cases }) => ({ name, reads: cases.filter(({ method }) => method === 'GET') }))
  test.each(reads.filter(({ reads }) => reads.length > 0))('that reads answers as ever: $name', async ({ reads }) => {
    const { owner, forge } = stage
    const answers: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    for (const one of reads) {
      const [address, input] = [await addressOf(one, stage, owner), await inputOf(one, stage)]
      // A read on a live server would check again, and store the result.
      await forge.app.db.updateTable('merge_requests').set({ check_head: null }).execute()
      const refs = await refsOf(stage)
      await written()
      const answer = await call(server.as(owner), 'GET', address, input)
      answers[one.name] = { status: answer.status, tables: await written(), refs: await refsOf(stage) }
      const { status } = await call(owner, 'GET', address, input)
      expected[one.name] = { status, tables: [], refs }
    }
    expect(answers).toEqual(expected)
  })

  test('that only computes or signs in answers as ever', async () => {
    const { owner } = stage
    for (const endpoint of v4.filter((one) => one.method !== 'GET' && !isWrite(one))) {
      const asked = cases.find(({ name }) => name === nameOf(endpoint))!
      const [address, input] = [await addressOf(asked, stage, owner), await inputOf(asked, stage)]
      await written()
      const { status } = await call(server.as(owner), asked.method, address, input)
      expect({ name: asked.name, status: status < 300, moved: await written() }).toEqual({
        name: asked.name,
        status: true,
        moved: [],
      })
    }
  })
})
