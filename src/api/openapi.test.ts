import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { families, v4 } from '../features/v4.ts'
import { startForge } from '../forge.ts'
import { VERSION } from '../version.ts'
import { openApiDocument } from './openapi.ts'

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  responses: Record<string, unknown>
}

const document = openApiDocument(families, VERSION) as { paths: Record<string, Record<string, Operation>> }

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

test('every path is a template whose names are its parameters, and no two are the same address', () => {
  const paths = Object.entries(document.paths)
  for (const [path, operations] of paths) {
    expect(path).toMatch(/^(\/([\w.-]|\{\w+\})+)+$/)
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
    for (const { operationId, parameters = [] } of Object.values(operations)) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      expect([operationId, inPath.toSorted()]).toEqual([operationId, names.toSorted()])
      expect([operationId, new Set(parameters.map(({ name }) => name)).size]).toEqual([operationId, parameters.length])
    }
  }
  expect(new Set(paths.map(([path]) => path.replace(/\{\w+\}/g, '{}'))).size).toBe(paths.length)
  expect(document.paths).toHaveProperty(['/projects/{id}/releases/{tag_name}/downloads/{path}'])
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
