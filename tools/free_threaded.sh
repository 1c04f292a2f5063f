# Runs in a Debian root: builds Python without the global lock from Debian's source package, into /usr/local.
# MIRROR is the address of Debian's mirror; PYTHON the version, such as 3.14.

pool=$MIRROR/pool/main/p/python$PYTHON
fetch() { /usr/lib/apt/apt-helper download-file "$pool/$1" "$1"; }

mkdir -p /build && cd /build
# The source of the version that is installed here. A mirror may hold less than its lists say: then the next older one.
# Whatever it is, Debian's signature on it is checked below.
version=$(dpkg-query -W -f '${source:Version}' "python$PYTHON")
patch=${version#"$PYTHON".} && patch=${patch%%[!0-9]*}
until fetch "python${PYTHON}_$version.dsc"; do
    [ "$patch" -gt 0 ] || { echo "the mirror has no source package of Python $PYTHON" && exit 1; }
    patch=$((patch - 1)) && version=$PYTHON.$patch-1
done
for file in $(sed -n '/^Files:/,/^$/s/^ [0-9a-f]* [0-9]* //p' "python${PYTHON}_$version.dsc"); do fetch "$file"; done
# Without Debian's patches: they look for packages of a free-threaded Python in the wrong folder.
dpkg-source --require-valid-signature --skip-patches -x "python${PYTHON}_$version.dsc" source

cd source
./configure -q --disable-gil --prefix=/usr/local
make -s -j"$(nproc)"
make -s install
cd / && rm -rf /build
