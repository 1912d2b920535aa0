import { readdirSync, readFileSync } from 'node:fs'

/** Processes that read objects of a repository, or of repositories below a folder. */
export function readersIn(root: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return environment.includes(`GIT_DIR=${root}`) && command.includes('--batch-command')
    } catch {
      return false
    }
  })
}
