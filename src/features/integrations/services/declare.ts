/**
 * What a service is made of: its slug, its fields, the events it takes and what it sends. One declaration says all of
 * it; the endpoints, the checks and the sending follow from that.
 */
import { z } from 'zod'
import { bool, oneOf } from '../../../api/wire.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import type { App, JobContext } from '../../../context.ts'
import type { OutgoingRequest } from '../../../outbound/client.ts'
import type { ServiceEvent, Setting, Settings } from './model.ts'
import type { ServicePayload } from './payload.ts'

export interface Field {
  readonly schema: z.ZodType
  readonly isRequired: boolean
  /** Is to be named, and may be empty. */
  readonly mayBeBlank: boolean
  /** Sealed, and never told to anybody. */
  readonly isSecret: boolean
  /** Where something is sent: `guarded` ones are checked as those of hooks are, `link`s are for people to follow. */
  readonly address: 'guarded' | 'link' | 'host' | null
  /** What counts where nobody has said otherwise. */
  readonly preset: Setting
}

const toText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

const LONGEST_LINE = 255
const LONGEST_SECRET = 2048
const LONGEST_ADDRESS = 2000
const LONGEST_TEXT = 16_384

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\0-\x1f\x7f]/

/** It may stand in a header, a query or a line of a protocol. */
const lineUpTo = (most: number) =>
  z.preprocess(
    toText,
    z
      .string()
      .max(most, { abort: true })
      .refine((value) => !CONTROL.test(value))
      .transform((value) => value.trim()),
  )

export const field = (schema: z.ZodType, more: Partial<Field> = {}): Field => ({
  schema,
  isRequired: false,
  mayBeBlank: false,
  isSecret: false,
  address: null,
  preset: null,
  ...more,
})

export const line = (most = LONGEST_LINE): Field => field(lineUpTo(most))
/** More than a line. */
export const longer: Field = field(z.preprocess(toText, z.string().max(LONGEST_TEXT)))
/** A key or a file, which has lines. */
export const secretText: Field = field(z.preprocess(toText, z.string().max(LONGEST_TEXT)), { isSecret: true })
export const secret: Field = field(lineUpTo(LONGEST_SECRET), { isSecret: true })
export const url: Field = field(lineUpTo(LONGEST_ADDRESS), { address: 'guarded' })
/** An address that lets whoever knows it send. */
export const secretUrl: Field = { ...url, isSecret: true }
export const link: Field = field(lineUpTo(LONGEST_ADDRESS), { address: 'link' })
export const host: Field = field(lineUpTo(LONGEST_LINE), { address: 'host' })
export const flag = (preset = false): Field => field(bool, { preset })
export const choice = (preset: string | null, ...values: [string, ...string[]]): Field =>
  field(oneOf(...values), { preset })
export const port = (preset: number): Field =>
  field(
    z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), z.int().min(1).max(65_535)),
    {
      preset,
    },
  )
export const required = (of: Field): Field => ({ ...of, isRequired: true })
export const requiredButMayBeBlank = (of: Field): Field => ({ ...of, isRequired: true, mayBeBlank: true })

export interface Service {
  readonly slug: string
  readonly title: string
  readonly fields: Readonly<Record<string, Field>>
  readonly events: readonly ServiceEvent[]
  /** Why nothing is done about it: whom it spoke to is gone. Its settings are kept. */
  readonly gone?: string
  /** What is asked of the receiver, of facts alone. None: nothing to tell. */
  readonly requests?: (told: ServicePayload) => readonly OutgoingRequest[]
  /** What jobs of the project are given. */
  readonly variables?: (settings: Settings, scope: JobContext) => readonly Variable[]
  /** What a test asks instead, where a message would come to nothing or do something. */
  readonly probe?: (told: ServicePayload) => OutgoingRequest
  /** Where telling takes more than a few requests: mail, other protocols, questions back. */
  readonly deliver?: (app: App, told: ServicePayload) => Promise<void>
}

export const service = (declared: Service): Service => declared
