#!/bin/sh
# Starts PostgreSQL on $PGDATA, which is initialised first when it is empty. Under another name until it is
# whole, so that a start that was cut off is begun anew.
set -eu

: "${PGDATA:?is not set}" "${POSTGRES_PASSWORD:?is not set}"
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
PATH=/opt/postgres/native/bin:$PATH

initialise() {
  draft=$PGDATA.new
  rm -rf "$draft"
  mkdir -p "$(dirname "$PGDATA")"
  passwords=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" > "$passwords"
  initdb -D "$draft" -U "$user" --pwfile="$passwords" --auth=scram-sha-256 --encoding=UTF8 \
    --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --no-instructions
  rm -f "$passwords"
  echo 'host all all all scram-sha-256' >> "$draft/pg_hba.conf"
  if [ "$database" != postgres ]; then
    echo "create database \"$database\"" | postgres --single -D "$draft" postgres > /dev/null
  fi
  mv "$draft" "$PGDATA"
}

[ -s "$PGDATA/PG_VERSION" ] || initialise
[ "${1-postgres}" != postgres ] || shift
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories='' "$@"
