import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../context.ts'
import { startForge, type TestForge } from '../forge.ts'
import { together } from './together.ts'

let forge: TestForge
beforeAll(async () => (forge = await startForge()))
afterAll(() => forge[Symbol.asyncDispose]())

/** Appends to a user's name and rejects an empty text; `turns` records what was written together. */
function naming() {
  const turns: (readonly string[])[] = []
  const name = together(async (app: App, texts: readonly string[]) => {
    turns.push(texts)
    expect(app.db.isTransaction).toBe(true)
    const answers: string[] = []
    for (const text of texts) {
      const { name } = await app.db
        .updateTable('users')
        .set({ name: sql`name || ${text}` })
        .where('id', '=', forge.administrator.id)
        .returning('name')
        .executeTakeFirstOrThrow()
      if (text === '') throw new Error('nothing to add')
      answers.push(name)
    }
    return answers
  })
  return { turns, name: (text: string) => name(forge.app, text) }
}

const nameNow = async () => (await forge.administrator.get('/user')).body.name as string
const rename = (name: string) => forge.administrator.put(`/users/${forge.administrator.id}`, { name })

test('what is wanted at the same moment is written in one transaction, and each has its own answer', async () => {
  await rename('x')
  const { turns, name } = naming()
  expect(await Promise.all(['a', 'b', 'c'].map(name))).toEqual(['xa', 'xab', 'xabc'])
  expect(turns).toEqual([['a', 'b', 'c']])
  const first = name('d')
  await sleep(0)
  expect(await Promise.all([first, name('e')])).toEqual(['xabcd', 'xabcde'])
  expect(turns.flat().join('')).toBe('abcde')
  expect(await nameNow()).toBe('xabcde')
})

test('a crowd is written in turns that have an end', async () => {
  await rename('x')
  const { turns, name } = naming()
  await Promise.all(Array.from({ length: 120 }, () => name('y')))
  expect(turns.map((texts) => texts.length)).toEqual([50, 50, 20])
  expect(await nameNow()).toBe(`x${'y'.repeat(120)}`)
})

test('who fails fails alone, and leaves nothing', async () => {
  await rename('x')
  const { name } = naming()
  const answers = await Promise.allSettled(['a', '', 'c'].map(name))
  expect(answers).toMatchObject([
    { status: 'fulfilled', value: 'xa' },
    { status: 'rejected', reason: new Error('nothing to add') },
    { status: 'fulfilled', value: 'xac' },
  ])
  expect(await nameNow()).toBe('xac')
})
