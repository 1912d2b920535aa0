/** A documented filter that is ignored would return everything: each must be declared, or rejected by name. */
import { expect, test } from 'vitest'
import { startForge } from '../src/forge.ts'
import { DOCUMENTED } from './documented-filters.ts'
import { nameOf, v4 } from './endpoints.ts'

const endpoints = new Map(v4.map((endpoint) => [nameOf(endpoint), endpoint]))
const documented = Object.entries(DOCUMENTED).map(([name, filters]) => [name, filters.split(/\s+/)] as const)

test.each(documented)('%s serves or refuses every documented filter', (name, filters) => {
  const endpoint = endpoints.get(name)
  expect(endpoint, 'there is no such endpoint').toBeDefined()
  const served = Object.keys(endpoint!.input?.shape ?? {})
  const refused = endpoint!.refuses ?? []
  expect(filters.filter((filter) => !served.includes(filter) && !refused.includes(filter))).toEqual([])
  expect(refused.filter((filter) => served.includes(filter))).toEqual([])
})

test('a refused filter is answered 400, a blank or an unknown one is none', async () => {
  await using forge = await startForge()
  const lists = ['/projects', '/users', '/issues', '/merge_requests', '/search']
  for (const path of lists) {
    const input = path === '/search' ? { scope: 'projects', search: 'x' } : {}
    for (const name of endpoints.get(`GET ${path}`)!.refuses ?? []) {
      const answer = await forge.administrator.get(path, { ...input, [name]: '1' })
      expect([answer.status, answer.body.error], `${path} ${name}`).toEqual([400, `${name} is not supported`])
      expect((await forge.administrator.get(path, { ...input, [name]: '' })).status).toBe(200)
    }
    expect((await forge.administrator.get(path, { ...input, no_release_has_this: '1' })).status).toBe(200)
  }
})

test('every endpoint that refuses something is among the documented', () => {
  const refusing = [...endpoints].filter(([name, { refuses }]) => refuses && name.startsWith('GET'))
  const known = (name: string) => name in DOCUMENTED || name.replace('/-/', '/') in DOCUMENTED
  expect(refusing.map(([name]) => name).filter((name) => !known(name))).toEqual([])
})
