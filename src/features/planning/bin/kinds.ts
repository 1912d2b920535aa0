/** The kinds of records that go to the bin. A family registers its kind as `bin` in its family.ts. */
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import type { Tables } from '../../../store/database.ts'
import type { BinKey, DeletedItem } from './model.ts'

export interface BinKind {
  readonly key: BinKey
  /** With an article, for messages. */
  readonly one: string
  readonly table: keyof Tables
  /** Members of this level delete and restore records of this kind. */
  readonly level: number
  /** Runs before the rows leave their tables, and again in the transaction in which the last ones leave. May refuse. */
  leaving?(app: TransactionApp, item: DeletedItem): Promise<void>
  /** Runs in the transaction that deletes the record. */
  deleted(app: TransactionApp, item: DeletedItem): Promise<void>
  /** Runs in the transaction in which the record itself is back. May refuse. */
  returned?(app: TransactionApp, item: DeletedItem): Promise<void>
  /** Runs when all rows are back, and must be idempotent. */
  returning?(app: App, item: DeletedItem): Promise<void>
  /** Runs in the transaction that ends the restoration. */
  restored(app: TransactionApp, item: DeletedItem): Promise<void>
  /** Runs in the transaction that deletes the record for good. */
  purged?(app: TransactionApp, item: DeletedItem): Promise<void>
}

/** The refusal to restore a record beside another one like it. */
export const takenNow = ({ one }: Pick<BinKind, 'one'>): Refusal =>
  new Refusal('conflict', `${one[0]!.toUpperCase()}${one.slice(1)} with the same number or title already exists`)

let registered: readonly BinKind[] = []

/** Called once, when the families are put together. */
export const registerBinKinds = (kinds: readonly BinKind[]): void => void (registered = kinds)

export const binKinds = (): readonly BinKind[] => registered

export const binKind = (key: BinKey): BinKind => registered.find((kind) => kind.key === key)!
