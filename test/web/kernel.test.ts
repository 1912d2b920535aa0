import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type TestForge } from '../../src/forge.ts'
import { openTab } from './browser.ts'

let forge: TestForge
beforeAll(async () => {
  forge = await startForge()
})
afterAll(() => forge[Symbol.asyncDispose]())

test('a page that is not there says so, to people in words and to programs that ask for JSON in JSON', async () => {
  await using tab = await openTab(forge)
  await tab.go('/nobody/here')
  expect(await tab.page.textContent('h1')).toBe('Page not found')
  const answer = await fetch(`${forge.url}/nobody/here`, { headers: { Accept: 'application/json' } })
  expect([answer.status, await answer.json()]).toEqual([404, { error: '404 Not Found' }])
})
