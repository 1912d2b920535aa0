/** The server for clients: a started command, on PostgreSQL if the suite has one. */
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { startCommand, type Command } from '../start/command.ts'

/** The token of the first administrator. */
export const TOKEN = 'clients-root-token'

export async function startServer(args: readonly string[] = []): Promise<Command> {
  const postgres = testDatabaseUrl()
  const database = postgres ? await postgresDatabase(postgres) : null
  const settings = { MORTISE_ROOT_TOKEN: TOKEN, ...(database && { MORTISE_DATABASE_URL: database.url }) }
  const command = await startCommand(settings, args)
  return {
    url: command.url,
    async stop() {
      await command.stop()
      await database?.drop()
    },
  }
}
