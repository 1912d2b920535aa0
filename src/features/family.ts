/** What a family may consist of: its own `family.ts` says all of it, and `families.ts` names it. */
import type { Endpoint } from '../api/endpoint.ts'
import type { Webhooks } from '../api/openapi.ts'
import type { AddressPage, ProjectPage, WebRoutes } from '../api/server.ts'
import type { AfterPush, App, BlobColumn, OnUserRemoved, SecretReset } from '../context.ts'
import type { Job } from '../jobs/queue.ts'
import type { Subscription } from '../jobs/worker.ts'
import type { BinKind } from './planning/bin/kinds.ts'
import type { RegisteredKind } from './planning/items/registry.ts'

export interface Family {
  /** Endpoints by verb: all that `routes.ts` exports. They are a chapter of the documentation. */
  readonly routes?: Record<string, Endpoint>
  // oxlint-disable-next-line no-explicit-any -- the queue holds jobs of every payload
  readonly jobs?: readonly Job<App, any>[]
  /** To events, its own or those of other families. */
  readonly reactions?: readonly Subscription<App>[]
  /** Its kind of item. To-do items, search, references, notes and quick actions cover all kinds. */
  readonly items?: RegisteredKind
  /** Its records go to the bin when they are deleted. */
  readonly bin?: BinKind
  readonly onUserRemoved?: OnUserRemoved
  readonly afterPush?: AfterPush
  /** Every family that seals anything has one. */
  readonly secretReset?: SecretReset
  /** Every column that names a blob: content that no column names is removed. */
  readonly blobs?: readonly BlobColumn[]
  /** Pages, files: whatever is not below `/api/v4`. */
  readonly web?: readonly WebRoutes[]
  readonly projectPages?: readonly ProjectPage[]
  readonly addressPages?: readonly AddressPage[]
  /** Examples of what it sends to receivers, by name. */
  readonly webhooks?: () => Promise<Webhooks>
}

export const family = (parts: Family): Family => parts

/** A family that covers all kinds of items. */
export type ItemFamily = (kinds: readonly RegisteredKind[]) => Family

export const itemFamily = (parts: ItemFamily): ItemFamily => parts
