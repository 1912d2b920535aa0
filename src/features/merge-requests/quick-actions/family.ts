import { family } from '../../family.ts'
import { proposeBranch } from './on.ts'

export const mergeRequestCommands = family({ reactions: [proposeBranch] })
