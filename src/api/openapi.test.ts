import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { families, v4 } from '../features/v4.ts'
import { startForge } from '../forge.ts'
import { VERSION } from '../version.ts'
import { openApiDocument } from './openapi.ts'

const document = openApiDocument(families, VERSION) as {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>
}

test('the document is valid OpenAPI 3.1 and the committed one is current', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
  expect(JSON.parse(committed)).toEqual(document)
})

test('every endpoint stands in it once, under a name of its own', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  expect(operations).toHaveLength(v4.length)
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(v4.length)
})

test('the server serves it, and a page that asks nobody else', async () => {
  await using forge = await startForge()
  const served = await fetch(`${forge.url}/api/openapi.json`)
  expect([served.status, await served.json()]).toEqual([200, document])

  const page = await fetch(`${forge.url}/api/docs`)
  const html = await page.text()
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!)
  expect(named.length).toBeGreaterThan(0)
  for (const address of named) {
    expect(address).toMatch(/^\/api\/docs\//)
    expect((await fetch(forge.url + address)).status, address).toBe(200)
  }
})
