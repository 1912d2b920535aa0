/** Every endpoint of the API, with its cases from the families' `cases.ts`. */
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Endpoint } from '../src/api/endpoint.ts'
import { v4 } from '../src/features/v4.ts'
import type { Case } from './cases.ts'

export { v4 }

const features = join(import.meta.dirname, '../src/features')
const files = globSync('**/cases.ts', { cwd: features }).toSorted()
const found = await Promise.all(files.map((file) => import(join(features, file)) as Promise<{ cases: Case[] }>))
export const cases: readonly Case[] = found.flatMap((file) => file.cases)

/** Patterns of parameters are not part of an endpoint's name. */
export const nameOf = ({ method, path }: Endpoint) => `${method} ${path.replace(/\([^)]+\)/g, '')}`

const byName = new Map(cases.map((one) => [one.name, one]))

export function caseOf(endpoint: Endpoint): Case {
  const known = byName.get(nameOf(endpoint))
  if (!known) throw new Error(`${nameOf(endpoint)} has no case: write one into the cases.ts of its family`)
  return known
}

/** One `cases.ts`: the lines of its table and their endpoints. */
export interface FamilyTable {
  /** Its folder, such as `identity/tokens`. */
  readonly name: string
  readonly cases: readonly Case[]
  readonly endpoints: readonly Endpoint[]
}

/** Set by `scripts/test.ts` to test only some families. */
const chosen = process.env['MORTISE_TEST_FAMILIES']?.split(',')

export const families: readonly FamilyTable[] = files
  .map((file, n) => {
    const { cases } = found[n]!
    const names = new Set(cases.map(({ name }) => name))
    return { name: dirname(file), cases, endpoints: v4.filter((endpoint) => names.has(nameOf(endpoint))) }
  })
  .filter(({ name }) => !chosen || chosen.includes(name))

/** The matching endpoints of each family, for one test per family. */
export const endpointsByFamily = (passes: (endpoint: Endpoint) => boolean = () => true): [string, Endpoint[]][] =>
  families
    .map(({ name, endpoints }): [string, Endpoint[]] => [name, endpoints.filter(passes)])
    .filter(([, endpoints]) => endpoints.length > 0)
