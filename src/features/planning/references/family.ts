import { family } from '../../family.ts'
import * as reactions from './on.ts'

export const references = family({ reactions: Object.values(reactions) })
