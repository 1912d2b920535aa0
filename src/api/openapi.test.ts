import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { bundle } from '../../scripts/openapi-chapters.ts'
import { families, v4, webhooks } from '../features/v4.ts'
import { startForge } from '../forge.ts'
import { VERSION } from '../version.ts'
import { openApiDocument } from './openapi.ts'

interface Parameter {
  name: string
  in: string
}

interface Operation {
  operationId: string
  parameters?: (Parameter | { $ref: string })[]
  responses: Record<string, unknown>
}

type Document = {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>> & { parameters: Record<string, Parameter> }
}

const document = openApiDocument(families, VERSION, await webhooks()) as unknown as Document

/** Inline, or a reference to a shared one. */
const resolved = (one: Parameter | { $ref: string }): Parameter =>
  '$ref' in one ? document.components.parameters[one.$ref.split('/').at(-1)!]! : one

test('the document is valid OpenAPI 3.1 and the committed one is current', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  expect(await bundle()).toEqual(document)
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
    for (const { operationId, parameters: given = [] } of Object.values(operations)) {
      const parameters = given.map(resolved)
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      expect([operationId, inPath.toSorted()]).toEqual([operationId, names.toSorted()])
      expect([operationId, new Set(parameters.map(({ name }) => name)).size]).toEqual([operationId, parameters.length])
    }
  }
  expect(new Set(paths.map(([path]) => path.replace(/\{\w+\}/g, '{}'))).size).toBe(paths.length)
  expect(document.paths).toHaveProperty(['/projects/{id}/releases/{tag_name}/downloads/{path}'])
})

test('every component is referred to, and every reference leads to one', () => {
  const referenced = new Set(
    Array.from(JSON.stringify(document).matchAll(/"#\/components\/([^"]+)"/g), ([, name]) => name!),
  )
  const { securitySchemes: _, ...components } = document.components
  const kept = Object.entries(components).flatMap(([kind, ones]) => Object.keys(ones).map((name) => `${kind}/${name}`))
  expect([...referenced].toSorted()).toEqual(kept.toSorted())
})

test('one more family adds its own block and moves no record that it is the first to use', () => {
  const { branches: added, ...others } = families
  const lines = (some: typeof families) => JSON.stringify(openApiDocument(some, VERSION), null, 2).split('\n')
  const all = lines(families)
  let at = 0
  expect(lines(others).find((line) => (at = all.indexOf(line, at) + 1) === 0)).toBeUndefined()
  expect(Object.keys(added!).length).toBeGreaterThan(5)
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
