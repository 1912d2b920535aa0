/** All declared endpoints, ready to be called: with the records and the valid input of the family's cases. */
import { afterAll } from 'vitest'
import type { Endpoint } from '../src/api/endpoint.ts'
import { startForge, type Person, type TestForge } from '../src/forge.ts'
import { weakMemo } from '../src/lib/async/weak-memo.ts'
import { addressOf, inputOf, setStage, type Stage } from './cases.ts'
import { caseOf, nameOf } from './endpoints.ts'

export const fieldsOf = ({ input }: Endpoint) => Object.keys(input?.shape ?? {})
/** Fields that are part of the path cannot be sent otherwise. */
export const ownFieldsOf = (endpoint: Endpoint) =>
  fieldsOf(endpoint).filter((name) => !endpoint.path.includes(`:${name}`))
export const isWrite = ({ method }: Endpoint) => ['POST', 'PUT', 'PATCH'].includes(method)

/** An endpoint with existing records; its input is created again for each call. */
export interface EndpointCall {
  readonly endpoint: Endpoint
  readonly name: string
  readonly address: string
  input(): Promise<Record<string, unknown>>
}

export interface World {
  readonly forge: TestForge
  readonly stage: Stage
  /** An administrator other than the first. */
  readonly caller: Person
  asked(endpoint: Endpoint): Promise<EndpointCall>
}

export async function worldOf(forge: TestForge): Promise<World> {
  // The receivers are host names that do not resolve.
  await forge.administrator.put('/application/settings', { silent_mode_enabled: true })
  const stage = await setStage(forge, 'private')
  const caller = await forge.user({ admin: true })
  const asked = weakMemo(async (endpoint: Endpoint): Promise<EndpointCall> => {
    const input = async () => {
      const given = await inputOf(caseOf(endpoint), stage)
      return given instanceof FormData ? {} : { ...given }
    }
    return { endpoint, name: nameOf(endpoint), address: await addressOf(caseOf(endpoint), stage, caller), input }
  })
  return { forge, stage, caller, asked }
}

/** One world for all tests of a describe or a file, created by the first that needs it. */
export function sharedWorld(begin: () => Promise<World> = () => startForge().then(worldOf)): () => Promise<World> {
  let begun: Promise<World> | undefined
  afterAll(async () => (await begun)?.forge[Symbol.asyncDispose]())
  return () => (begun ??= begin())
}

/** One after the other: changes in the same repository would conflict. */
export async function allCalls({ asked }: World, endpoints: readonly Endpoint[]): Promise<EndpointCall[]> {
  const found: EndpointCall[] = []
  for (const endpoint of endpoints) found.push(await asked(endpoint))
  return found
}

/** The same path with the text for every parameter. */
export const addressWith = ({ path }: Endpoint, text: string) =>
  path.replace(/:(\w+)(\([^)]+\))?/g, encodeURIComponent(text))
