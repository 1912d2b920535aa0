import { family } from '../../family.ts'
import { reactions } from './on.ts'

export const mergeRequestTodos = family({ reactions })
