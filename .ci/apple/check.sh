#!/usr/bin/env bash
# Type-checks the modules and their tests by the `#if` branches of Apple's platforms, on a machine without their SDKs.
#
# usage: .ci/apple/check.sh [platform ...]     (platforms: iOS macOS tvOS watchOS visionOS; all of them by default)
#
# WITHOUT=ImmutableWeakCaptures leaves that feature out, as compilers before Swift 6.2.3 do.
# SOURCES_ONLY=1 leaves the tests out, which take most of the time.
#
# stubs/ declares what the sources use of Apple's modules. Most signatures follow what is public of the SDK of Xcode 26;
# the first lines of each stub say which are from memory of Apple's documentation. This finds wrong branches, missing
# imports, and types and isolation that do not fit. It cannot find what a stub has wrong, API that is newer than the
# manifest's platforms, and what links and how it behaves.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=${REPO:-$(cd "$here/../.." && pwd)}
out=${OUT:-$repository/.build/apple}
without=${WITHOUT:-}
mkdir -p "$out"

features=(ExistentialAny ImmutableWeakCaptures InferIsolatedConformances InternalImportsByDefault MemberImportVisibility
  NonisolatedNonsendingByDefault)
strict=(-swift-version 6 -package-name RequestBehaviors -parse-as-library -wmo -enable-testing)
for feature in "${features[@]}"; do
  [ "$feature" = "$without" ] || strict+=(-enable-upcoming-feature "$feature")
done

failed=0

# Compiles the stub of a module for a platform.
stub() {
  local platform=$1 name=$2
  swiftc -swift-version 5 -parse-as-library -suppress-warnings -enable-upcoming-feature InternalImportsByDefault \
    -I "$modules" -D "PLATFORM_$platform" -emit-module -module-name "$name" \
    -emit-module-path "$modules/$name.swiftmodule" "$here/stubs/$name.swift"
}

# Checks the module whose sources are in a folder, and keeps it for those that import it.
module() {
  local platform=$1 folder=$2 name
  name=$(basename "$folder")
  local log="$out/$platform/$name.log"
  echo "== $platform $name"
  if ! find "$out/$platform/$folder" -name '*.swift' -print0 | sort -z | xargs -0 swiftc "${strict[@]}" \
    -I "$modules" -I "$repository/Sources/CRequestBehaviorsSQLite" -I "$repository/Sources/CRequestBehaviorsCurl" \
    -emit-module -module-name "$name" \
    -emit-module-path "$modules/$name.swiftmodule" > "$log" 2>&1 || grep -qE '(error|warning):' "$log"
  then
    failed=1
    # Each line once: the compiler repeats them below the source that they are about.
    grep -E '^[^ ].*(error|warning):' "$log" | sed "s#$out/$platform/##" | sort -u || tail -n 20 "$log"
  fi
}

check() {
  local platform=$1 sum
  modules=$out/$platform/modules
  rm -rf "${out:?}/$platform"
  mkdir -p "$modules"
  python3 "$here/preprocess.py" "$platform" "$repository/Sources" "$out/$platform/Sources"
  python3 "$here/preprocess.py" "$platform" "$repository/Tests" "$out/$platform/Tests"
  # What has the same text as on another platform has the same types.
  sum=$(cd "$out/$platform" && find Sources Tests -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  sum="$sum $([ "$platform" = macOS ] && echo macOS || true)"
  if [ -n "${checked[$sum]:-}" ]; then
    echo "== $platform: the text that ${checked[$sum]} has"
    return
  fi
  checked[$sum]=$platform
  cat > "$modules/module.modulemap" <<M
module CFaultVFS { header "$repository/Tests/Fixtures/CFaultVFS/include/CFaultVFS.h" export * }
M
  for name in Darwin Security AppleFoundation AuthenticationServices CryptoKit os CoreData; do stub "$platform" "$name"; done
  [ "$platform" = macOS ] || stub "$platform" UIKit
  local folders=(Sources/RequestBehaviors Sources/RequestBehaviorsCaching Sources/RequestBehaviorsOAuth1
    Sources/RequestBehaviorsOAuth2 Sources/RequestBehaviorsTesting Sources/RequestBehaviorsSQLite
    Sources/RequestBehaviorsCurl Sources/QuickStart)
  [ -n "${SOURCES_ONLY:-}" ] || folders+=(Tests/TestSupport Tests/TestLimits Tests/RequestBehaviorsTests
    Tests/RequestBehaviorsCachingTests Tests/RequestBehaviorsOAuth1Tests Tests/RequestBehaviorsOAuth2Tests
    Tests/RequestBehaviorsTestingTests Tests/RequestBehaviorsSQLiteTests Tests/RequestBehaviorsCurlTests
    Tests/DocumentationTests)
  for folder in "${folders[@]}"; do
    module "$platform" "$folder"
    # The errors of what imports it would say no more.
    [ -e "$modules/$(basename "$folder").swiftmodule" ] || break
  done
}

declare -A checked=()
[ $# -gt 0 ] || set -- iOS macOS tvOS watchOS visionOS
for platform in "$@"; do check "$platform"; done
exit $failed
