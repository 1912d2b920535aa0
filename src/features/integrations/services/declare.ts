/**
 * The declaration of a service: its slug, fields, events and requests. Endpoints, validation and sending follow from
 * it.
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
  /** The field is required, but may be empty. */
  readonly mayBeBlank: boolean
  /** Stored sealed, and never shown. */
  readonly isSecret: boolean
  /** `guarded` URLs receive requests and are checked like those of webhooks. A `link` is only for users to follow. */
  readonly address: 'guarded' | 'link' | 'host' | null
  /** The default value. */
  readonly preset: Setting
}

const toText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

const LONGEST_LINE = 255
const LONGEST_SECRET = 2048
const LONGEST_ADDRESS = 2000
const LONGEST_TEXT = 16_384

// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROL = /[\0-\x1f\x7f]/

/** The value may go into a header, a query or a line of a protocol. */
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
/** A text of several lines. */
export const longer: Field = field(z.preprocess(toText, z.string().max(LONGEST_TEXT)))
/** A key or a file, with several lines. */
export const secretText: Field = field(z.preprocess(toText, z.string().max(LONGEST_TEXT)), { isSecret: true })
export const secret: Field = field(lineUpTo(LONGEST_SECRET), { isSecret: true })
export const url: Field = field(lineUpTo(LONGEST_ADDRESS), { address: 'guarded' })
/** A URL that is itself a credential. */
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
  /** Why the service is retired: the product no longer exists. Settings are kept. */
  readonly gone?: string
  /** The requests to send; a pure function of the payload. Empty: nothing to send. */
  readonly requests?: (payload: ServicePayload) => readonly OutgoingRequest[]
  /** CI variables for the jobs of the project. */
  readonly variables?: (settings: Settings, scope: JobContext) => readonly Variable[]
  /** The request of a test, where a real message would do nothing or have an effect. */
  readonly probe?: (payload: ServicePayload) => OutgoingRequest
  /** For services that need more than a few requests: mail, other protocols, queries first. */
  readonly deliver?: (app: App, payload: ServicePayload) => Promise<void>
}

export const service = (declared: Service): Service => declared
