/** All that is declared, ready to be asked: where the cases of its family say, with the valid input they give. */
import { afterAll } from 'vitest'
import type { Endpoint } from '../src/api/endpoint.ts'
import { startForge, type Person, type TestForge } from '../src/forge.ts'
import { weakMemo } from '../src/lib/async/weak-memo.ts'
import { addressOf, inputOf, setStage, type Stage } from './cases.ts'
import { caseOf, nameOf } from './endpoints.ts'

export const fieldsOf = ({ input }: Endpoint) => Object.keys(input?.shape ?? {})
/** Fields that are part of the path cannot be given otherwise. */
export const ownFieldsOf = (endpoint: Endpoint) =>
  fieldsOf(endpoint).filter((name) => !endpoint.path.includes(`:${name}`))
export const isWrite = ({ method }: Endpoint) => ['POST', 'PUT', 'PATCH'].includes(method)

/** An endpoint where it leads somewhere; what it is asked with is made anew each time. */
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
  // Its receivers are names that nobody answers to.
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

/** One world for all tests of a describe or a file, begun by the first that asks. */
export function sharedWorld(begin: () => Promise<World> = () => startForge().then(worldOf)): () => Promise<World> {
  let begun: Promise<World> | undefined
  afterAll(async () => (await begun)?.forge[Symbol.asyncDispose]())
  return () => (begun ??= begin())
}

/** One after the other: what they make in the same repository would be in each other's way. */
export async function allCalls({ asked }: World, endpoints: readonly Endpoint[]): Promise<EndpointCall[]> {
  const found: EndpointCall[] = []
  for (const endpoint of endpoints) found.push(await asked(endpoint))
  return found
}

/** The same place with the text for every parameter. */
export const addressWith = ({ path }: Endpoint, text: string) =>
  path.replace(/:(\w+)(\([^)]+\))?/g, encodeURIComponent(text))
