import { itemFamily } from '../../family.ts'
import { searchOf } from './endpoints.ts'

export const search = itemFamily((kinds) => ({ routes: searchOf(kinds) }))
