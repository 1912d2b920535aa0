import type { TransactionApp } from '../../../context.ts'
import { lockName } from '../../../store/dialect.ts'

/** Titles are unique in a project and its ancestor groups. The lock reserves this title until the transaction ends. */
export const lockTitle = (app: TransactionApp, title: string): Promise<void> => lockName(app.db, `label ${title}`)
